import type { FastifyInstance } from "fastify";
import { OPERATIONS } from "../../contract/operations.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { registerOperations } from "./dispatch.ts";
import { handlersOf, type OperationTools } from "./handlers.ts";
import { serveDocument } from "./openapi/serve.ts";
import { routeOf } from "./operation.ts";

type ApiTools = Parameters<typeof registerOperations>[1] & OperationTools & Parameters<typeof serveDocument>[1];

/** Serves the operations of the API and their OpenAPI document. Returns a function that generates it at the first call. */
export function serveApi(app: FastifyInstance, tools: ApiTools, authenticate: Authenticate) {
  const handlers = handlersOf(tools);
  const routes = OPERATIONS.map((operation) => routeOf(operation, handlers[operation.name]!));
  registerOperations(app, tools, authenticate, routes);
  return serveDocument(app, tools);
}

import type { FastifyInstance } from "fastify";
import type { Authenticate } from "../http/authenticate.ts";
import { registerOperations } from "./dispatch.ts";
import { serveDocument, type ServedDocument } from "./openapi/serve.ts";
import { routesOf } from "./operations.ts";

type ApiTools = Parameters<typeof registerOperations>[1] &
  Parameters<typeof routesOf>[0] &
  Parameters<typeof serveDocument>[1];

/** Serves the operations of the API and their OpenAPI document. Returns a function that generates it at the first call. */
export function serveApi(
  app: FastifyInstance,
  tools: ApiTools,
  authenticate: Authenticate,
): () => Promise<ServedDocument> {
  registerOperations(app, tools, authenticate, routesOf(tools));
  return serveDocument(app, tools);
}

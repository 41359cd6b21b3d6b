import type { FastifyInstance } from "fastify";
import { OPERATIONS } from "../../contract/operations.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { registerOperations } from "./dispatch.ts";
import { handlersOf, type OperationTools } from "./handlers.ts";
import { routeOf } from "./run.ts";
import type { With } from "../tools.ts";
import { sendTagged, tagged, type TaggedFile } from "../http/send.ts";

type ApiTools = Parameters<typeof registerOperations>[1] & OperationTools & Parameters<typeof serveDocument>[1];

/** Serves the operations of the API and their OpenAPI document. Returns a function that generates it at the first call. */
export function serveApi(app: FastifyInstance, tools: ApiTools, authenticate: Authenticate) {
  const handlers = handlersOf(tools);
  const routes = OPERATIONS.map((operation) => routeOf(operation, handlers[operation.name]!));
  registerOperations(app, tools, authenticate, routes);
  return serveDocument(app, tools);
}

export const DOCUMENT_PATH = "/openapi.json";

/** Serves the OpenAPI document without authentication. */
function serveDocument(
  app: FastifyInstance,
  { baseUrl, versions, contact }: With<"baseUrl" | "versions"> & { contact: string | undefined },
): () => Promise<TaggedFile> {
  let served: Promise<TaggedFile> | undefined;
  const build = async () => {
    const { buildDocument } = await import("./openapi/document.ts");
    const document = buildDocument({ baseUrl: baseUrl(), versions: versions.dates, contact });
    return tagged("application/json; charset=utf-8", JSON.stringify(document));
  };
  const document = () => (served ??= build());
  app.get(DOCUMENT_PATH, { config: { crossOrigin: "anyone" } }, async (_request, reply) =>
    sendTagged(reply, await document()),
  );
  return document;
}

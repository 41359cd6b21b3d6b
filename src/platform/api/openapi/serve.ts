import type { FastifyInstance } from "fastify";
import type { Versions } from "../../domain/versions.ts";
import { sendTagged, tagged, type TaggedFile } from "../../http/served-file.ts";

export const DOCUMENT_PATH = "/openapi.json";

/** Serves the OpenAPI document without authentication. Returns a function that generates it at the first call. */
export function serveDocument(
  app: FastifyInstance,
  { baseUrl, versions, contact }: { baseUrl: () => string; versions: Versions; contact: string | undefined },
): () => Promise<TaggedFile> {
  let served: Promise<TaggedFile> | undefined;
  const build = async () => {
    const { buildDocument } = await import("./document.ts");
    const document = buildDocument({ baseUrl: baseUrl(), versions: versions.dates, contact });
    return tagged("application/json; charset=utf-8", JSON.stringify(document));
  };
  const document = () => (served ??= build());
  app.get(DOCUMENT_PATH, { config: { crossOrigin: "anyone" } }, async (_request, reply) =>
    sendTagged(reply, await document()),
  );
  return document;
}

import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Versions } from "../../domain/versions.ts";

export const DOCUMENT_PATH = "/openapi.json";

/** The OpenAPI document as it is served. */
export interface ServedDocument {
  text: string;
  tag: string;
}

/** Serves the OpenAPI document without authentication. Returns a function that generates it at the first call. */
export function serveDocument(
  app: FastifyInstance,
  { baseUrl, versions, contact }: { baseUrl: () => string; versions: Versions; contact: string | undefined },
): () => Promise<ServedDocument> {
  let served: Promise<ServedDocument> | undefined;
  const build = async (): Promise<ServedDocument> => {
    const { buildDocument } = await import("./document.ts");
    const text = JSON.stringify(buildDocument({ baseUrl: baseUrl(), versions: versions.dates, contact }));
    // Weak: the compressed text has other bytes.
    return { text, tag: `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
  };
  const document = () => (served ??= build());
  app.get(DOCUMENT_PATH, { config: { crossOrigin: "anyone" } }, async (request, reply) => {
    const { text, tag } = await document();
    void reply.header("Cache-Control", "no-cache").header("ETag", tag);
    if (matchesTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
    return reply.header("Content-Type", "application/json; charset=utf-8").send(text);
  });
  return document;
}

/**
 * Returns true if the client has the current document, by weak comparison of a list of tags, or `*` (RFC 9110 13.1.2).
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = tag.replace("W/", "");
  return header.trim() === "*" || [...header.matchAll(/"[^"]*"/g)].some(([listed]) => listed === opaque);
}

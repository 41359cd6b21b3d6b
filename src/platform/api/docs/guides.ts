import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../domain/api-error.ts";
import { mediaTypeOf, sendTagged, tagged, type TaggedFile } from "../../http/served-file.ts";
import { DOCUMENT_HEADERS, GUIDES_PATH } from "./headers.ts";

/**
 * Serves the guides as they were built: pages with relative links, their script, style and search. Returns the codes in the
 * tables of the page Errors.
 */
export function registerGuides(app: FastifyInstance, folder: string): ReadonlySet<string> {
  const pages = readPages(folder);
  app.get(GUIDES_PATH, async (_request, reply) => reply.redirect(`${GUIDES_PATH}/`, 308));
  for (const path of [`${GUIDES_PATH}/`, `${GUIDES_PATH}/:name`]) {
    app.get<{ Params: { name?: string } }>(path, { config: { compress: true } }, async (request, reply) => {
      const { name = "index.html" } = request.params;
      const page = pages.get(name);
      if (page !== undefined) return sendTagged(reply.headers(DOCUMENT_HEADERS), page);
      const other = `${name.replace(/\.(md|html)$/, "").replace(/^README$/, "index")}.html`;
      if (other !== name && pages.has(other)) return reply.redirect(`${GUIDES_PATH}/${other}`, 308);
      const missing = pages.get("404.html");
      if (missing !== undefined && request.headers.accept?.includes("text/html") === true) {
        return sendTagged(reply.code(404).headers(DOCUMENT_HEADERS), missing);
      }
      throw new ApiError("not_found", "This guide does not exist. For a list of guides, see /docs/guides/.");
    });
  }
  const errors = pages.get("errors.html")?.content.toString() ?? "";
  return new Set([...errors.matchAll(/<tr id="(\w+)">/g)].map(([, code]) => code!));
}

function readPages(folder: string): ReadonlyMap<string, TaggedFile> {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(names.map((name) => [name, tagged(mediaTypeOf(name)!, readFileSync(join(folder, name)))]));
}

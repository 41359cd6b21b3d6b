import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiError } from "../../domain/api-error.ts";
import { matchesTag } from "../openapi/serve.ts";
import { DOCUMENT_HEADERS } from "./headers.ts";

export const GUIDES_PATH = "/docs/guides";

const MEDIA_TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

interface Page {
  mediaType: string;
  bytes: Buffer;
  tag: string;
}

/** Serves the guides as they were built: pages with relative links, their script, style and search. */
export function registerGuides(app: FastifyInstance, folder: string): void {
  const pages = readPages(folder);
  app.get(GUIDES_PATH, async (_request, reply) => reply.redirect(`${GUIDES_PATH}/`, 308));
  for (const path of [`${GUIDES_PATH}/`, `${GUIDES_PATH}/:name`]) {
    app.get<{ Params: { name?: string } }>(path, { config: { compress: true } }, async (request, reply) => {
      const { name = "index.html" } = request.params;
      const page = pages.get(name);
      if (page !== undefined) return send(reply, page, request.headers["if-none-match"]);
      const other = `${name.replace(/\.(md|html)$/, "").replace(/^README$/, "index")}.html`;
      if (other !== name && pages.has(other)) return reply.redirect(`${GUIDES_PATH}/${other}`, 308);
      const missing = pages.get("404.html");
      if (missing !== undefined && request.headers.accept?.includes("text/html") === true) {
        return send(reply.code(404), missing, undefined);
      }
      throw new ApiError("not_found", "This guide does not exist. For a list of guides, see /docs/guides/.");
    });
  }
}

function send(reply: FastifyReply, { mediaType, bytes, tag }: Page, ifNoneMatch: string | undefined): FastifyReply {
  void reply.headers(DOCUMENT_HEADERS).header("Content-Type", mediaType).header("ETag", tag);
  return matchesTag(ifNoneMatch, tag) ? reply.code(304).send() : reply.send(bytes);
}

function readPages(folder: string): ReadonlyMap<string, Page> {
  const pages = new Map<string, Page>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const bytes = readFileSync(join(folder, name));
    const tag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    pages.set(name, { mediaType: MEDIA_TYPES[name.slice(name.lastIndexOf(".") + 1)]!, bytes, tag });
  }
  return pages;
}

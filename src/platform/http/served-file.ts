import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Returns the media type of a built file; undefined for one that is not served. */
export function mediaTypeOf(file: string): string | undefined {
  return MEDIA_TYPES[file.slice(file.lastIndexOf(".") + 1)];
}

/** A file or text that clients may keep as long as its tag stays the same. */
export interface TaggedFile {
  mediaType: string;
  content: string | Buffer;
  tag: string;
}

export function tagged(mediaType: string, content: string | Buffer): TaggedFile {
  // Weak: the compressed text has other bytes.
  return { mediaType, content, tag: `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"` };
}

/** Sends the file, or 304 to a client that has it. */
export function sendTagged(reply: FastifyReply, { mediaType, content, tag }: TaggedFile): FastifyReply {
  void reply.headers({ "Cache-Control": "no-cache", ETag: tag });
  const isKept = reply.statusCode === 200 && matchesTag(reply.request.headers["if-none-match"], tag);
  if (isKept) return reply.code(304).send();
  return reply.header("Content-Type", mediaType).send(content);
}

/** Returns true if a weak comparison finds the tag in a list of tags, or the list is `*` (RFC 9110 13.1.2). */
function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = tag.replace("W/", "");
  return header.trim() === "*" || [...header.matchAll(/"[^"]*"/g)].some(([listed]) => listed === opaque);
}

import type { FastifyInstance } from "fastify";
import { ApiError } from "../domain/api-error.ts";
import { parseStrictJson } from "./strict-json.ts";

/** Lets the server take JSON and nothing else; an empty body is none. */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      assertUtf8(request.headers["content-type"]);
      done(null, (body as Buffer).length === 0 ? undefined : parseStrictJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function assertUtf8(contentType: string | undefined): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase();
  if (charset === undefined || charset === "utf-8" || charset === "utf8") return;
  throw new ApiError("unsupported_media_type", `Send JSON as UTF-8, not as ${charset.slice(0, 40)}.`);
}

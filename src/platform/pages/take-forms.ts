import type { FastifyInstance } from "fastify";

const FORM_BYTES = 64 * 1024;

/** Makes a part of the server accept forms only. The body stays raw bytes. */
export function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer", bodyLimit: FORM_BYTES },
    (_request, body, done) => done(null, body),
  );
}

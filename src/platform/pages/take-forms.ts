import type { FastifyInstance } from "fastify";

const FORM_BYTES = 64 * 1024;

/** Lets a part of the server take forms and nothing else; the body arrives as the bytes that were sent. */
export function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer", bodyLimit: FORM_BYTES },
    (_request, body, done) => done(null, body),
  );
}

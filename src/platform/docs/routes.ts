import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { matchesTag, type ServedDocument } from "../http/openapi/serve.ts";
import { PROBLEMS_PATH } from "../http/problem.ts";
import { sendPage } from "../pages/page.ts";
import { problemIndexPage, problemPage, unknownProblemPage } from "./problem-views.ts";
import type { ReferenceFiles } from "./reference/page.ts";

export const DOCS_PATH = "/docs";

/** No inline script or style, nothing from elsewhere, in no frame, and no text that becomes markup. */
const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

interface Reference {
  document: () => Promise<ServedDocument>;
  /** Undefined where the dashboard was not built; there is no page at /docs then. */
  files: ReferenceFiles | undefined;
}

/** Registers the documentation pages: one per error code, and the API reference. */
export function registerDocs(app: FastifyInstance, baseUrl: () => string, { document, files }: Reference): void {
  if (files !== undefined) referenceRoutes(app, baseUrl, { document, files });
  app.get(PROBLEMS_PATH, async (_request, reply) => sendPage(reply, 200, problemIndexPage()));
  app.get<{ Params: { code: string } }>(`${PROBLEMS_PATH}/:code`, async ({ params: { code } }, reply) =>
    Object.hasOwn(ERRORS, code)
      ? sendPage(reply, 200, problemPage(code as ErrorCode, baseUrl()))
      : sendPage(reply, 404, unknownProblemPage()),
  );
}

/** The page is built at the first request. */
function referenceRoutes(
  app: FastifyInstance,
  baseUrl: () => string,
  { document, files }: Reference & { files: ReferenceFiles },
): void {
  let built: Promise<{ page: string; tag: string }> | undefined;
  const build = async () => {
    const [{ text }, { referencePage }] = await Promise.all([document(), import("./reference/page.ts")]);
    const page = referencePage(JSON.parse(text), baseUrl(), files);
    return { page, tag: `W/"${createHash("sha256").update(page).digest("base64url").slice(0, 22)}"` };
  };
  const show = async (ifNoneMatch: string | undefined, reply: FastifyReply) => {
    const { page, tag } = await (built ??= build());
    void reply.header("Cache-Control", "no-cache").header("ETag", tag);
    if (matchesTag(ifNoneMatch, tag)) return reply.code(304).send();
    return reply
      .header("Content-Type", "text/html; charset=utf-8")
      .header("Content-Security-Policy", REFERENCE_POLICY)
      .header("X-Frame-Options", "DENY")
      .header("Referrer-Policy", "no-referrer")
      .header("Cross-Origin-Opener-Policy", "same-origin")
      .send(page);
  };
  for (const path of [DOCS_PATH, `${DOCS_PATH}/`]) {
    app.get(path, async ({ headers }, reply) => show(headers["if-none-match"], reply));
  }
}

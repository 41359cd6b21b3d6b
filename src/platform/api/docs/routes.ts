import { createHash } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ERROR_GUIDES } from "../../../contract/error-guides.ts";
import { type ErrorCode, ERRORS, PROBLEM_MEDIA_TYPE } from "../../../contract/errors.ts";
import { ApiError } from "../../domain/api-error.ts";
import { matchesTag, type ServedDocument } from "../openapi/serve.ts";
import { exampleProblem, PROBLEMS_PATH } from "../../http/problem.ts";
import { html } from "../../http/pages/html.ts";
import { type Page, sendPage } from "../../http/pages/page.ts";
import { registerGuides } from "./guides.ts";
import { DOCS_PATH, DOCUMENT_HEADERS, REFERENCE_PATH } from "./headers.ts";
import { inline } from "./prose.ts";
import type { ReferenceFiles } from "./reference/page.ts";

interface Reference {
  document: () => Promise<ServedDocument>;
  /** Undefined if the dashboard was not built; then there is no page at /docs. */
  files: ReferenceFiles | undefined;
  /** Folder of the built guides. */
  guides: string | undefined;
}

/** Registers the documentation: the guides, the API reference, and a page per error code. */
export function registerDocs(
  app: FastifyInstance,
  baseUrl: () => string,
  { document, files, guides }: Reference,
): void {
  if (guides !== undefined) registerGuides(app, guides);
  if (files !== undefined) referenceRoutes(app, baseUrl, { document, files });
  app.get(PROBLEMS_PATH, async (_request, reply) => sendPage(reply, 200, problemIndexPage()));
  app.get<{ Params: { code: string } }>(`${PROBLEMS_PATH}/:code`, async ({ params: { code } }, reply) =>
    Object.hasOwn(ERRORS, code)
      ? sendPage(reply, 200, problemPage(code as ErrorCode, baseUrl()))
      : sendPage(reply, 404, unknownProblemPage()),
  );
}

/** The pages are rendered at the first request. */
function referenceRoutes(
  app: FastifyInstance,
  baseUrl: () => string,
  { document, files }: Pick<Reference, "document"> & { files: ReferenceFiles },
): void {
  let built: Promise<ReadonlyMap<string, { page: string; tag: string }>> | undefined;
  const build = async () => {
    const [{ text }, { referencePages }] = await Promise.all([document(), import("./reference/page.ts")]);
    const pages = [...referencePages(JSON.parse(text), baseUrl(), files)];
    const tagOf = (page: string) => `W/"${createHash("sha256").update(page).digest("base64url").slice(0, 22)}"`;
    return new Map(pages.map(([name, page]) => [name, { page, tag: tagOf(page) }]));
  };
  const show = async (name: string, ifNoneMatch: string | undefined, reply: FastifyReply) => {
    const found = (await (built ??= build())).get(name);
    if (found === undefined) {
      throw new ApiError(
        "not_found",
        `This page of the API reference does not exist. For a list of pages, see ${DOCS_PATH}.`,
      );
    }
    const { page, tag } = found;
    void reply.headers(DOCUMENT_HEADERS).header("ETag", tag);
    if (matchesTag(ifNoneMatch, tag)) return reply.code(304).send();
    return reply.header("Content-Type", "text/html; charset=utf-8").send(page);
  };
  for (const path of [DOCS_PATH, `${DOCS_PATH}/`]) {
    app.get(path, { config: { compress: true } }, async ({ headers }, reply) =>
      show("", headers["if-none-match"], reply),
    );
  }
  app.get<{ Params: { group: string } }>(
    `${REFERENCE_PATH}/:group`,
    { config: { compress: true } },
    async ({ params, headers }, reply) => show(params.group, headers["if-none-match"], reply),
  );
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** Every error code, by status. */
function problemIndexPage(): Page {
  const statuses = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return {
    title: "Errors",
    wide: true,
    body: html`<h1>Errors</h1>
      <p>
        Every error response has problem details (RFC 9457): <code>${PROBLEM_MEDIA_TYPE}</code> with a stable
        <code>code</code>, a sentence in <code>detail</code> and the <code>request_id</code>. Its
        <code>type</code> leads to one of these pages.
      </p>
      ${statuses.map(
        (status) =>
          html`<section>
            <h2>${statusLine(status)}</h2>
            <ul class="rows">
              ${CODES.filter((code) => ERRORS[code].status === status).map(
                (code) =>
                  html`<li>
                    <a href="${PROBLEMS_PATH}/${code}"><code>${code}</code></a>
                    <span class="soft">${ERRORS[code].title}</span>
                  </li>`,
              )}
            </ul>
          </section>`,
      )}`,
  };
}

/** Renders the page of one error code: its meaning, cause and fix. */
function problemPage(code: ErrorCode, baseUrl: string): Page {
  const { meaning, cause, remedy } = ERROR_GUIDES[code];
  const { status, title } = ERRORS[code];
  return {
    title,
    wide: true,
    body: html`<p class="soft"><a href="${PROBLEMS_PATH}">Errors</a> · ${statusLine(status)} · <code>${code}</code></p>
      <h1>${title}</h1>
      <p>${inline(meaning)}</p>
      <section>
        <h2>Why it happens</h2>
        <p>${inline(cause)}</p>
      </section>
      <section>
        <h2>What to do</h2>
        <p>${inline(remedy)}</p>
      </section>
      <section>
        <h2>An example</h2>
        <pre tabindex="0"><code>${exampleText(status, exampleProblem(code, baseUrl))}</code></pre>
      </section>`,
  };
}

/** Renders the page for a path that is not an error code. */
function unknownProblemPage(): Page {
  return {
    title: "Unknown error code",
    body: html`<h1>Unknown error code</h1>
      <p>This error code does not exist. See the <a href="${PROBLEMS_PATH}">list of error codes</a>.</p>`,
  };
}

function exampleText(status: number, document: object): string {
  return `HTTP/1.1 ${statusLine(status)}\nContent-Type: ${PROBLEM_MEDIA_TYPE}\n\n${JSON.stringify(document, null, 2)}`;
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status]}`;
}

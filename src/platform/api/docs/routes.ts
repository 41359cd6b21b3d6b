import { STATUS_CODES } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ERROR_GUIDES } from "../../../contract/error-guides.ts";
import { type ErrorCode, ERRORS, PROBLEM_MEDIA_TYPE } from "../../../contract/errors.ts";
import { ApiError } from "../../domain/api-error.ts";
import { sendTagged, tagged, type TaggedFile } from "../../http/served-file.ts";
import { exampleProblem, PROBLEMS_PATH } from "../../http/problem.ts";
import { html } from "../../http/pages/html.ts";
import { type Page, sendPage } from "../../http/pages/page.ts";
import { registerGuides } from "./guides.ts";
import { DOCS_PATH, DOCUMENT_HEADERS, REFERENCE_PATH } from "./headers.ts";
import { inline } from "./prose.ts";
import type { ReferenceFiles } from "./reference/page.ts";

interface Reference {
  document: () => Promise<TaggedFile>;
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
  app.get(PROBLEMS_PATH, async ({ url }, reply) =>
    sendPage(reply, 200, problemIndexPage(new URL(url, baseUrl()).searchParams.get("q") ?? "")),
  );
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
  let built: Promise<ReadonlyMap<string, TaggedFile>> | undefined;
  const build = async () => {
    const [{ content }, { referencePages }] = await Promise.all([document(), import("./reference/page.ts")]);
    const pages = [...referencePages(JSON.parse(content.toString()), baseUrl(), files)];
    return new Map(pages.map(([name, page]) => [name, tagged("text/html; charset=utf-8", page)]));
  };
  const show = async (name: string, reply: FastifyReply) => {
    const page = (await (built ??= build())).get(name);
    if (page === undefined) {
      throw new ApiError(
        "not_found",
        `This page of the API reference does not exist. For a list of pages, see ${DOCS_PATH}.`,
      );
    }
    return sendTagged(reply.headers(DOCUMENT_HEADERS), page);
  };
  for (const path of [DOCS_PATH, `${DOCS_PATH}/`]) {
    app.get(path, { config: { compress: true } }, async (_request, reply) => show("", reply));
  }
  app.get<{ Params: { group: string } }>(
    `${REFERENCE_PATH}/:group`,
    { config: { compress: true } },
    async (request, reply) => show(request.params.group, reply),
  );
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

const MAX_SEARCH = 100;

/** The error codes with all words of a search, by status, each with its most likely cause. */
function problemIndexPage(text: string): Page {
  const search = text.trim().slice(0, MAX_SEARCH);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = CODES.filter((code) => words.every((word) => searchedText(code).includes(word)));
  const statuses = [...new Set(found.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return {
    title: "Errors",
    wide: true,
    body: html`<h1>Errors</h1>
      <form class="search" method="get" action="${PROBLEMS_PATH}" role="search">
        <input
          type="search"
          name="q"
          value="${search}"
          maxlength="${MAX_SEARCH}"
          placeholder="Search a code, status or cause"
          aria-label="Search errors"
        />
        <button>Search</button>
      </form>
      ${
        words.length > 0 &&
        html`<p class="soft" role="status">
          ${found.length === 0 ? "No error" : found.length === 1 ? "1 error" : `${found.length} errors`} with
          “${search}”. <a href="${PROBLEMS_PATH}">Show all</a>
        </p>`
      }
      ${statuses.map(
        (status) =>
          html`<section>
            <h2>${statusLine(status)}</h2>
            <ul class="causes">
              ${found
                .filter((code) => ERRORS[code].status === status)
                .map(
                  (code) =>
                    html`<li>
                      <a href="${PROBLEMS_PATH}/${code}">${ERRORS[code].title}</a> <code class="soft">${code}</code>
                      <p class="soft">${inline(firstSentence(ERROR_GUIDES[code].cause))}</p>
                    </li>`,
                )}
            </ul>
          </section>`,
      )}
      <section>
        <p class="soft">
          Every error response has problem details (RFC 9457): <code>${PROBLEM_MEDIA_TYPE}</code> with a stable
          <code>code</code>, a sentence in <code>detail</code> and the <code>request_id</code>. Its
          <code>type</code> leads to one of these pages.
        </p>
      </section>`,
  };
}

function searchedText(code: ErrorCode): string {
  const { status, title } = ERRORS[code];
  const { meaning, cause, remedy } = ERROR_GUIDES[code];
  return [code, statusLine(status), title, meaning, cause, remedy].join("\n").toLowerCase();
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.!?]) /, 1)[0]!;
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

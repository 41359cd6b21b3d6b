import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ERROR_GUIDES } from "../../../contract/error-guides.ts";
import { type ErrorCode, ERRORS, PROBLEM_MEDIA_TYPE } from "../../../contract/errors.ts";
import { ApiError } from "../../domain/api-error.ts";
import { mediaTypeOf, sendTagged, tagged, type TaggedFile } from "../../http/send.ts";
import { exampleProblem, PROBLEMS_PATH } from "../../http/problem.ts";
import { html } from "../../http/pages/html.ts";
import {
  CODES,
  DOCS_PATH,
  DOCUMENT_HEADERS,
  ERRORS_PAGE,
  errorsMenu,
  GUIDES_PATH,
  inline,
  MISSING_PAGE,
  plainText,
  REFERENCE_PATH,
  type SiteFiles,
  sitePage,
  statusLine,
  steps,
} from "./site.ts";
import { codePanel, json } from "./reference/panels.ts";
import { DEFAULT_BASE_URL } from "../../../contract/shell-command.ts";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Reference {
  document: () => Promise<TaggedFile>;
  /** Undefined if the dashboard was not built; then there is no documentation. */
  files: SiteFiles | undefined;
  /** Folder of the built guides. */
  guides: string | undefined;
}

/** Registers the documentation: the guides, the API reference, and a page per error code. */
export function registerDocs(
  app: FastifyInstance,
  baseUrl: () => string,
  { document, files, guides }: Reference,
): void {
  const documented = guides === undefined ? undefined : registerGuides(app, guides, baseUrl);
  if (files === undefined) return;
  referenceRoutes(app, baseUrl, { document, files });
  app.get(PROBLEMS_PATH, async (_request, reply) => reply.redirect(ERRORS_PAGE, 308));
  app.get<{ Params: { code: string } }>(`${PROBLEMS_PATH}/:code`, async ({ params: { code } }, reply) => {
    if (Object.hasOwn(ERRORS, code)) return sendDocument(reply, problemPage(code as ErrorCode, baseUrl(), files));
    // Codes of delivery attempts and of signatures have no page of their own.
    if (documented?.has(code) === true) return reply.redirect(`${ERRORS_PAGE}#${code}`, 308);
    return sendDocument(reply.code(404), unknownProblemPage(files));
  });
}

function sendDocument(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(DOCUMENT_HEADERS).header("Content-Type", "text/html; charset=utf-8").send(page);
}

/** The pages are rendered at the first request. */
function referenceRoutes(
  app: FastifyInstance,
  baseUrl: () => string,
  { document, files }: Pick<Reference, "document"> & { files: SiteFiles },
): void {
  let built: Promise<ReadonlyMap<string, TaggedFile>> | undefined;
  const build = async () => {
    const [{ content }, { referencePages }] = await Promise.all([document(), import("./reference/page.ts")]);
    const pages = [...referencePages(JSON.parse(content.toString()), baseUrl(), files)];
    return new Map(pages.map(([name, page]) => [name, tagged("text/html; charset=utf-8", page)]));
  };
  const show = async (name: string, { headers: { accept } }: FastifyRequest, reply: FastifyReply) => {
    const pages = await (built ??= build());
    const page = name === MISSING_PAGE ? undefined : pages.get(name);
    if (page === undefined && accept?.includes("text/html") === true)
      return sendTagged(reply.code(404).headers(DOCUMENT_HEADERS), pages.get(MISSING_PAGE)!);
    if (page === undefined) {
      throw new ApiError(
        "not_found",
        `This page of the documentation does not exist. For a list of pages, see ${DOCS_PATH}.`,
      );
    }
    return sendTagged(reply.headers(DOCUMENT_HEADERS), page);
  };
  app.get(DOCS_PATH, async (_request, reply) => reply.redirect(`${GUIDES_PATH}/`));
  app.get(REFERENCE_PATH, { config: { compress: true } }, async (request, reply) => show("", request, reply));
  app.get(`${REFERENCE_PATH}/`, async (_request, reply) => reply.redirect(REFERENCE_PATH, 308));
  app.get(`${DOCS_PATH}/*`, { config: { compress: true } }, async (request, reply) =>
    request.url.endsWith("/")
      ? reply.redirect(request.url.replace(/\/+$/, ""), 308)
      : await show(MISSING_PAGE, request, reply),
  );
  app.get<{ Params: { group: string } }>(
    `${REFERENCE_PATH}/:group`,
    { config: { compress: true } },
    async (request, reply) => {
      const [, group] = /^(.*)\.html$/.exec(request.params.group) ?? [];
      if (group !== undefined) return await show(group, request, reply);
      if (request.params.group.endsWith(".md"))
        return await reply.redirect(`${GUIDES_PATH}/reference-${request.params.group}`, 308);
      const pages = await (built ??= build());
      if (pages.has(request.params.group)) return await reply.redirect(`${request.params.group}.html`, 308);
      return await show(request.params.group, request, reply);
    },
  );
}

/** Renders the page of one error code: its meaning, cause and fix. */
function problemPage(code: ErrorCode, baseUrl: string, files: SiteFiles): string {
  const { meaning, cause, remedy, guide } = ERROR_GUIDES[code];
  const at = CODES.indexOf(code);
  const [previous = { href: ERRORS_PAGE, title: "Errors" }, next] = [CODES[at - 1], CODES[at + 1]].map(stepTo);
  const { status, title } = ERRORS[code];
  // A text, because the formatter joins the lines of markup.
  const head = `HTTP/1.1 ${statusLine(status)}\nContent-Type: ${PROBLEM_MEDIA_TYPE}\n\n`;
  const content = html`<article class="row">
      <div class="text">
        <p class="type">${statusLine(status)} · <code>${code}</code></p>
        <h1>${title}</h1>
        <p>${inline(meaning)}</p>
        <h2>Why it happens</h2>
        <p>${inline(cause)}</p>
        <h2>What to do</h2>
        <p>${inline(remedy)}</p>
        <p>Guide: ${inline(guide.replace(/\((.*)\.md/, `(${GUIDES_PATH}/$1.html`))}</p>
      </div>
      <div class="code">${codePanel("Example response", html`${head}${json(exampleProblem(code, baseUrl))}`)}</div>
    </article>
    ${steps(previous, next)}`;
  const description = plainText(meaning);
  return sitePage({ title, section: "Errors", menu: errorsMenu(code), content, description }, files);
}

function stepTo(code: ErrorCode | undefined) {
  return code && { href: `${PROBLEMS_PATH}/${code}`, title: code };
}

function unknownProblemPage(files: SiteFiles): string {
  const content = html`<div class="row">
    <div class="text">
      <h1>Unknown error code</h1>
      <p>This error code does not exist. See the <a href="${ERRORS_PAGE}">list of error codes</a>.</p>
    </div>
  </div>`;
  return sitePage({ title: "Unknown error code", section: "Errors", menu: errorsMenu(), content }, files);
}

/**
 * Serves the guides as they were built: pages with relative links, their Markdown, script, style and search, and a list of
 * them for language models. Returns the codes in the tables of the page Errors.
 */
export function registerGuides(app: FastifyInstance, folder: string, baseUrl: () => string): ReadonlySet<string> {
  const pages = readPages(folder);
  app.get(GUIDES_PATH, async (_request, reply) => reply.redirect(`${GUIDES_PATH}/`, 308));
  for (const path of [`${GUIDES_PATH}/`, `${GUIDES_PATH}/:name`]) {
    app.get<{ Params: { name?: string } }>(path, { config: { compress: true } }, async (request, reply) => {
      const { name = "index.html" } = request.params;
      const page = pages.get(name);
      if (page !== undefined && !name.startsWith("reference-"))
        return sendTagged(reply.headers(DOCUMENT_HEADERS), page);
      if (page !== undefined)
        return reply.type(page.mediaType).send(page.content.toString().replaceAll(DEFAULT_BASE_URL, baseUrl()));
      const other = `${name.replace(/\.(md|html)$/, "").replace(/^README$/, "index")}.html`;
      if (other !== name && pages.has(other)) return reply.redirect(`${GUIDES_PATH}/${other}`, 308);
      const missing = pages.get("404.html");
      if (missing !== undefined && request.headers.accept?.includes("text/html") === true) {
        return sendTagged(reply.code(404).headers(DOCUMENT_HEADERS), missing);
      }
      throw new ApiError("not_found", "This guide does not exist. For a list of guides, see /docs/guides/.");
    });
  }
  app.get("/llms.txt", { config: { crossOrigin: "anyone" } }, async (_request, reply) => {
    const list = pages.get("llms.txt")?.content.toString() ?? "";
    const absolute = (target: string) => new URL(target, `${baseUrl()}${GUIDES_PATH}/`).href;
    const text = list.replaceAll(/(?<=\]\()[^)]+/g, absolute);
    return reply.header("Content-Type", mediaTypeOf("llms.md")).send(text);
  });
  for (const file of pages.keys()) {
    if (!file.endsWith(".html")) continue;
    const target = `${GUIDES_PATH}/${file}`;
    app.get(`${DOCS_PATH}/${file.replace(".html", "")}`, async (_request, reply) => reply.redirect(target, 308));
  }
  const errors = pages.get("errors.html")?.content.toString() ?? "";
  return new Set([...errors.matchAll(/<tr id="(\w+)">/g)].map(([, code]) => code!));
}

function readPages(folder: string): ReadonlyMap<string, TaggedFile> {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(names.map((name) => [name, tagged(mediaTypeOf(name)!, readFileSync(join(folder, name)))]));
}

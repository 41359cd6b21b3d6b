import { STATUS_CODES } from "node:http";
import { ERROR_GUIDES } from "../../contract/error-guides.ts";
import { ERRORS, type ErrorCode, PROBLEM_MEDIA_TYPE } from "../../contract/errors.ts";
import { exampleProblem, PROBLEMS_PATH } from "../http/problem.ts";
import { html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import { inline } from "./prose.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** Every error code, by status. */
export function problemIndexPage(): Page {
  const statuses = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return {
    title: "Errors",
    wide: true,
    body: html`<h1>Errors</h1>
      <p>
        Every refusal is a problem document (RFC 9457): <code>${PROBLEM_MEDIA_TYPE}</code> with a stable
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

/** Renders the page of one error code: what it means, its cause, and what to do. */
export function problemPage(code: ErrorCode, baseUrl: string): Page {
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
export function unknownProblemPage(): Page {
  return {
    title: "No such error",
    body: html`<h1>No such error</h1>
      <p>The platform has no error code of this name. See the <a href="${PROBLEMS_PATH}">list of all of them</a>.</p>`,
  };
}

function exampleText(status: number, document: object): string {
  return `HTTP/1.1 ${statusLine(status)}\nContent-Type: ${PROBLEM_MEDIA_TYPE}\n\n${JSON.stringify(document, null, 2)}`;
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status]}`;
}

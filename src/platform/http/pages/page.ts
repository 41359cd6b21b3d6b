import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { html, type Html } from "./html.ts";
import { STYLESHEET } from "./stylesheet.ts";
import type { Environment } from "../../../contract/environments.ts";

/** The environment to show, so that live is never mistaken for the sandbox. */
export function environmentBadge(environment: Environment): Html {
  return html`<span class="badge ${environment}">${environment === "live" ? "Live" : "Sandbox"}</span>`;
}

export class PageError extends Error {
  override name = "PageError";
  readonly status: number;
  readonly title: string;
  readonly headers: Record<string, string>;
  /** What the reader can do, shown below the detail. */
  readonly remedy: Html | undefined;

  constructor(status: number, title: string, detail: string, headers: Record<string, string> = {}, remedy?: Html) {
    super(detail);
    this.status = status;
    this.title = title;
    this.headers = headers;
    this.remedy = remedy;
  }
}

export interface Page {
  title: string;
  body: Html;
  /** Origins besides this one to which a form's response may redirect. */
  formTargets?: readonly string[];
  /** True for pages with lists. */
  wide?: boolean;
}

/** Headers of every page: it loads only what `policy` allows, and cannot be framed. */
function pageHeaders(...policy: readonly string[]) {
  return {
    "Content-Security-Policy": ["default-src 'none'", ...policy, "base-uri 'none'", "frame-ancestors 'none'"].join(
      "; ",
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
}

/** Headers of a page with scripts: those of this origin only, none inline, and no conversion of text into markup. */
export function scriptedPageHeaders(formAction: "'self'" | "'none'") {
  const own = ["script", "style", "img", "font", "connect"].map((kind) => `${kind}-src 'self'`);
  return pageHeaders(...own, `form-action ${formAction}`, "require-trusted-types-for 'script'", "trusted-types 'none'");
}

/** Copies the text before it. It is hidden until its script runs. */
export const COPY_BUTTON = html`<button type="button" class="small copy" hidden>
  <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" /></svg>Copy
</button>`;

const COPY_SCRIPT = `for (const button of document.querySelectorAll(".copy")) {
  button.hidden = navigator.clipboard === undefined;
  button.onclick = () => navigator.clipboard.writeText(button.previousElementSibling.textContent).then(() => {
    button.lastChild.textContent = "Copied";
    setTimeout(() => button.lastChild.textContent = "Copy", 2000);
  });
}`;

const COPY_HASH = hashOf(COPY_SCRIPT);
const STYLE_HASH = hashOf(STYLESHEET);

/** Returns the source of a content policy for one inline script or style. */
function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Sends a page that loads nothing, cannot be framed and is not cached. It runs no script, except one to copy with. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const targets = ["'self'", ...(page.formTargets ?? [])].join(" ");
  const script = page.body.text.includes(COPY_BUTTON.text) ? [`script-src ${COPY_HASH}`] : [];
  return reply
    .code(status)
    .header("Content-Type", "text/html; charset=utf-8")
    .header("Cache-Control", "no-store")
    .headers(
      pageHeaders(...script, `style-src ${STYLE_HASH}`, "font-src 'self'", "img-src data:", `form-action ${targets}`),
    )
    .send(render(page));
}

/** 303: the browser continues with a GET and forgets the form that it sent. */
export function seeOther(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).header("Location", location).header("Referrer-Policy", "no-referrer").send();
}

export function errorPage({ title, message, remedy }: PageError): Page {
  return {
    title,
    body: html`<h1>${title}</h1>
      <p>${message}</p>
      ${remedy}
      <p><a href="/dashboard">Go to the dashboard</a> · <a href="/docs">Documentation</a></p>`,
  };
}

function render({ title, body, wide }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${html`${title}`.text} · Service</title>
<link rel="icon" href="data:,">
<style>${STYLESHEET}</style>
</head>
<body>
<main${wide === true ? ' class="wide"' : ""}>
<p class="brand">Service</p>
${body.text}
</main>
${body.text.includes(COPY_BUTTON.text) ? `<script>${COPY_SCRIPT}</script>\n` : ""}</body>
</html>
`;
}

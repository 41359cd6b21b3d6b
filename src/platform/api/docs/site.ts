import { STATUS_CODES } from "node:http";
import { type ErrorCode, ERRORS } from "../../../contract/errors.ts";
import { html, type Html } from "../../http/pages/html.ts";
import { scriptedPageHeaders } from "../../http/pages/page.ts";
import { inProject } from "../../../contract/shell-command.ts";
import { PROBLEMS_PATH } from "../../http/problem.ts";

/** The sections of the documentation, with the page of each. */
const SECTIONS = {
  Guides: "index.html",
  Commands: "commands.html",
  API: "/docs/reference",
  Errors: "errors.html",
} as const;
type Section = keyof typeof SECTIONS;

/** Links to the sections and the dashboard; `guides` is the path from the page to the guides: empty for a guide. */
function siteLinks(guides: string, current: Section): Html {
  const sections = Object.entries(SECTIONS).map(([name, page]) => {
    const href = page.startsWith("/") ? page : `${guides}${page}`;
    return html`<a href="${href}" ${name === current && html`aria-current="true"`}>${name}</a> `;
  });
  return html`${sections}<a href="/dashboard">Dashboard</a>`;
}

/** URLs of the built files that a page loads. */
export interface SiteFiles {
  script: string;
  style: string;
  icon?: string;
}

interface SitePage {
  title: string;
  section: Section;
  menu: Html | readonly Html[];
  content: Html;
  /** The first sentences of a guide. */
  description?: string;
  /** Links to the headings of a long guide. */
  headings?: Html;
}

/** Renders a page of the documentation, with the header, menu and search that all of them have. A script shows the search. */
export function sitePage(page: SitePage, files: SiteFiles, guides = `${GUIDES_PATH}/`): string {
  const { title, section, menu, content, description, headings } = page;
  const links = siteLinks(guides, section);
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${
          description === undefined
            ? html`<meta name="robots" content="noindex" />`
            : html`<meta name="description" content="${description}" />`
        }
        <title>${title} · Service</title>
        ${files.icon !== undefined && html`<link rel="icon" href="${files.icon}" />`}
        ${section === "API" && html`<link rel="preload" as="font" type="font/woff2" href="/dashboard/assets/inter.woff2" crossorigin />`}
        <link rel="stylesheet" href="${files.style}" />
        <script type="module" src="${files.script}"></script>
      </head>
      <body data-language="curl">
        <a class="skip" href="#content">Skip to content</a>
        <header>
          <a class="brand" href="${guides}index.html">Service <span>Documentation</span></a>
          <div id="search" data-index="${guides}search.json" hidden>
            <input type="search" placeholder="Search the docs" aria-label="Search" autocomplete="off" />
            <kbd>/</kbd>
            <div class="results">
              <p role="status"></p>
              <ol hidden></ol>
            </div>
          </div>
          <noscript>Search needs JavaScript.</noscript>
          <nav aria-label="Site">${links}</nav>
          <button type="button" class="menu" popovertarget="menu">Menu</button>
        </header>
        <div class="columns">
          <nav id="menu" aria-label="${section}" popover>
            <ul>
              <li class="narrow">${links}</li>
              ${menu}
            </ul>
          </nav>
          <main id="content" tabindex="-1">${content}</main>
          ${headings}
        </div>
      </body>
    </html> `.text;
  // A tenth of a page would be indentation.
  return text.replaceAll(/(<pre[^]*?<\/pre>)|\n\s+/g, (_match, code?: string) => code ?? " ");
}

/** Returns links to the pages before and after a page. */
export function steps(previous: Step | undefined, next: Step | undefined): Html {
  return html`<nav class="steps" aria-label="Pages">
    ${previous !== undefined && html`<a rel="prev" href="${previous.href}">← ${previous.title}</a>`}
    ${next !== undefined && html`<a rel="next" href="${next.href}">${next.title} →</a>`}
  </nav>`;
}

interface Step {
  href: string;
  title: string;
}

/** What the page of a missing address says; a script adds similar pages. */
export function missingPage(list: Html): Html {
  return html`<h1>Page not found</h1>
    <p>Choose a page from the menu, search, or see ${list}.</p>
    <section id="similar" hidden>
      <h2>Similar pages</h2>
      <ul></ul>
    </section>`;
}

/** The error codes in the order of their menu: by status. */
export const CODES = (Object.keys(ERRORS) as ErrorCode[]).sort((a, b) => ERRORS[a].status - ERRORS[b].status);

/** Returns the menu of the pages of errors: every code, by status. */
export function errorsMenu(open?: ErrorCode | "all"): Html[] {
  const statuses = [...new Set(CODES.map((code) => ERRORS[code].status))];
  const item = (href: string, label: Html | string, isOpen = false) =>
    html`<li><a href="${href}" ${isOpen && html`aria-current="page"`}>${label}</a></li>`;
  const list = (title: string, items: readonly Html[]) =>
    html`<li>
      <h2>${title}</h2>
      <ul>
        ${items}
      </ul>
    </li>`;
  return [
    item(ERRORS_PAGE, "Overview", open === "all"),
    ...statuses.map((status) =>
      list(
        statusLine(status),
        CODES.filter((code) => ERRORS[code].status === status).map((code) =>
          item(`${PROBLEMS_PATH}/${code}`, html`<code>${code}</code>`, code === open),
        ),
      ),
    ),
    list(
      "Not from the API",
      ["Exit codes", "Delivery attempts", "Signature errors"].map((title) =>
        item(`${ERRORS_PAGE}#${title.toLowerCase().replaceAll(" ", "-")}`, title),
      ),
    ),
  ];
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status]}`;
}

export const DOCUMENT_HEADERS = scriptedPageHeaders("'none'");

/** Path of the documentation, which leads to its first page. */
export const DOCS_PATH = "/docs";
/** Path of the guides, all in one folder. */
export const GUIDES_PATH = `${DOCS_PATH}/guides`;
/** The guide that lists all errors. */
export const ERRORS_PAGE = `${GUIDES_PATH}/errors.html`;
/** The page of the API reference that a browser gets for a name that no page has. */
export const MISSING_PAGE = "404";
/** Path of the API reference's first page, and of the pages with the operations of one group each. */
export const REFERENCE_PATH = `${DOCS_PATH}/reference`;

/** What the docs use of Markdown within a paragraph. */
const MARKED = /(`[^`]*`|\[[^[\]]*\]\([^()]*\)|\*\*[^*]+\*\*)/;

/** One paragraph of Markdown with code in backticks, `[links](…)` and `**bold**`. */
export function inline(text: string): Html[] {
  return text.split(MARKED).map((part, index) => (index % 2 === 1 ? marked(part) : html`${part}`));
}

function marked(part: string): Html {
  if (part.startsWith("`")) return html`<code>${inProject(part.slice(1, -1))}</code>`;
  if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
  const [label = "", target = ""] = part.slice(1, -1).split("](");
  return html`<a href="${target}">${inline(label)}</a>`;
}

/** Paragraphs, and lists whose items begin with "- ". */
export function prose(text: string): Html[] {
  return text.split("\n\n").map((block) =>
    block.startsWith("- ")
      ? html`<ul>
          ${block.split("\n").map((item) => html`<li>${inline(item.slice(2))}</li>`)}
        </ul>`
      : html`<p>${inline(block)}</p>`,
  );
}

/** The first paragraph of a Markdown text, without markup. */
export function plainText(markdown: string): string {
  return markdown.split("\n\n", 1)[0]!.replaceAll(/`|\[|\]\([^)]*\)/g, "");
}

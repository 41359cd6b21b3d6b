import { html, type Html } from "../../http/pages/html.ts";
import { scriptedPageHeaders } from "../../http/pages/page.ts";
import { inProject } from "../../../contract/shell-command.ts";

/** The sections of the documentation, with the page of each. */
const SECTIONS = { Guides: "index.html", Commands: "commands.html", API: "/docs", Errors: "errors.html" } as const;
type Section = keyof typeof SECTIONS;

/**
 * The header of every page of the documentation, with its search, which a script shows. `guides` is the path from the page
 * to the guides: empty for a guide.
 */
export function siteHeader(guides: string, current: Section): Html {
  const hrefOf = (page: string): string => (page.startsWith("/") ? page : `${guides}${page}`);
  return html`<header>
    <a class="brand" href="${hrefOf("index.html")}">Service <span>Documentation</span></a>
    <div id="search" data-index="${hrefOf("search.json")}" hidden>
      <input type="search" placeholder="Search the docs" aria-label="Search" autocomplete="off" />
      <kbd>/</kbd>
      <div class="results">
        <p role="status"></p>
        <ol hidden></ol>
      </div>
    </div>
    <nav aria-label="Site">
      ${Object.entries(SECTIONS).map(
        ([name, page]) => html`<a href="${hrefOf(page)}" ${name === current && html`aria-current="true"`}>${name}</a> `,
      )}
      <a href="/dashboard">Dashboard</a>
    </nav>
    <button type="button" class="menu" popovertarget="menu">Menu</button>
  </header>`;
}

/** URLs of the built files that a page loads. */
export interface SiteFiles {
  script: string;
  style: string;
  icon: string;
}

interface SitePage {
  title: string;
  section: Section;
  menu: Html;
  content: Html;
}

/** Renders a page that the platform itself serves, in the design of the guides. */
export function sitePage({ title, section, menu, content }: SitePage, files: SiteFiles): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Service</title>
        <link rel="icon" href="${files.icon}" />
        <link rel="stylesheet" href="${files.style}" />
        <script type="module" src="${files.script}"></script>
      </head>
      <body data-language="curl">
        <a class="skip" href="#content">Skip to content</a>
        ${siteHeader(`${GUIDES_PATH}/`, section)}
        <div class="columns">
          ${menu}
          <main id="content" tabindex="-1">${content}</main>
        </div>
      </body>
    </html> `.text;
}

/** The links to the other sections, which the header has no space for on a phone. */
export function narrowLinks(): Html {
  return html`<li class="narrow">
    ${Object.entries(SECTIONS).map(([name, page]) => html`<a href="${page.startsWith("/") ? page : `${GUIDES_PATH}/${page}`}">${name}</a> `)}
  </li>`;
}

/** Headers of every page of the documentation. */
export const DOCUMENT_HEADERS = scriptedPageHeaders("'none'");

/** Path of the documentation, and of the API reference's first page. */
export const DOCS_PATH = "/docs";
/** Path of the guides, all in one folder. */
export const GUIDES_PATH = `${DOCS_PATH}/guides`;
/** The page of the API reference that a browser gets for a name that no page has. */
export const MISSING_PAGE = "404";
/** Path of the pages of the API reference, each of which has the operations of one group. */
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

import { STATUS_CODES } from "node:http";
import { html, Html } from "../../../http/pages/html.ts";
import { DOCS_PATH, MISSING_PAGE, REFERENCE_PATH } from "../headers.ts";
import { inline, prose } from "../prose.ts";
import { attributes, parameters } from "./attributes.ts";
import { Documents, type OpenApiDocument, type Operation, type ParameterObject } from "./document.ts";
import { narrowLinks, type SiteFiles, sitePage } from "../site.ts";
import { inProject, requestSamples, type Sample } from "./samples.ts";

/**
 * Renders the API reference: an OpenAPI document as a page for each of its groups, by name, and one at "" that lists all
 * operations. They can be read, navigated and printed without scripts. Their script adds the search, a choice of
 * languages and "Try it".
 */
export function referencePages(
  document: OpenApiDocument,
  baseUrl: string,
  files: SiteFiles,
): ReadonlyMap<string, string> {
  const documents = new Documents(document);
  const groups = groupsOf(documents);
  const pages = groups.map((group, index) => {
    const content = html`${groupSection(documents, group, baseUrl)} ${steps(groups[index - 1], groups[index + 1])}`;
    return [
      idOf(group.name),
      pageOf(`${group.name} · API reference`, content, navigation(groups, group), files),
    ] as const;
  });
  const menu = navigation(groups, undefined);
  const start = html`${introduction(document, baseUrl)} ${contents(groups)}`;
  const missing = html`<div class="row">
    <div class="text">
      <h1>Page not found</h1>
      <p>Choose a page from the menu, search, or see <a href="${DOCS_PATH}">all operations</a>.</p>
    </div>
  </div>`;
  return new Map([
    ["", pageOf("API reference", start, menu, files)],
    [MISSING_PAGE, pageOf("Page not found", missing, menu, files)],
    ...pages,
  ]);
}

function pageOf(title: string, content: Html, menu: Html, files: SiteFiles): string {
  return sitePage({ title, section: "API", menu, content }, files);
}

interface Group {
  name: string;
  description: string;
  operations: Operation[];
  /** True for deliveries, which a receiver handles, instead of API calls. */
  areWebhooks: boolean;
}

function groupsOf(documents: Documents): Group[] {
  const operations = documents.operations();
  const webhooks = documents.webhooks();
  return documents.document.tags.flatMap(({ name, description }): Group[] => {
    const of = (list: readonly Operation[]) => list.filter(({ tags }) => tags.includes(name));
    const received = of(webhooks);
    if (received.length === 0) return [{ name, description, areWebhooks: false, operations: of(operations) }];
    // Their bodies are long.
    const resources = [...new Set(received.map(resourceOf))];
    return resources.map((resource) => ({
      name: `${name}: ${resource}.*`,
      description,
      areWebhooks: true,
      operations: received.filter((operation) => resourceOf(operation) === resource),
    }));
  });
}

/** Returns the resource of an event type, such as `customer`. */
function resourceOf({ path }: Operation): string {
  return path.split(".", 1)[0]!;
}

/** Every group, and the operations of the open one. */
function navigation(groups: readonly Group[], open: Group | undefined): Html {
  const menu = html`<nav id="menu" aria-label="Reference" popover>
    <ul>
      ${narrowLinks()}
      <li><a href="${DOCS_PATH}" ${open === undefined && html`aria-current="page"`}>Introduction</a></li>
      ${groups.map(
        (group) =>
          html`<li>
            <a class="group" href="${hrefOf(group)}" ${group === open && html`aria-current="page"`}>${group.name}</a>
            ${group === open && operationLinks(group)}
          </li>`,
      )}
    </ul>
  </nav>`;
  // It is on every page, and a third of it would be indentation.
  return new Html(menu.text.replaceAll(/\n\s+/g, " "));
}

function operationLinks(group: Group): Html {
  return html`<ul>
    ${group.operations.map(
      ({ operationId, summary, method, path }) =>
        html`<li>
          <a href="${hrefOf(group, operationId)}">
            ${group.areWebhooks ? html`<code>${path}</code>` : html`<span>${summary}</span>${methodBadge(method)}`}
          </a>
        </li>`,
    )}
  </ul>`;
}

/** All operations with a link to the page of each. An item has the operation's anchor, so that links to it lead here. */
function contents(groups: readonly Group[]): Html {
  return html`<div class="contents">
    ${groups.map(
      (group) =>
        html`<section>
          <h2><a href="${hrefOf(group)}">${group.name}</a></h2>
          <p>${inline(group.description.split("\n\n", 1)[0]!)}</p>
          <ul>
            ${group.operations.map(
              ({ operationId, summary, method, path }) =>
                html`<li id="${operationId}">
                  <a href="${hrefOf(group, operationId)}">${group.areWebhooks ? path : summary}</a>
                  ${!group.areWebhooks && html`<code>${method} ${path}</code>`}
                </li>`,
            )}
          </ul>
        </section>`,
    )}
  </div>`;
}

function steps(previous: Group | undefined, next: Group | undefined): Html {
  return html`<nav class="steps" aria-label="Pages">
    ${previous !== undefined && html`<a rel="prev" href="${hrefOf(previous)}">← ${previous.name}</a>`}
    ${next !== undefined && html`<a rel="next" href="${hrefOf(next)}">${next.name} →</a>`}
  </nav>`;
}

function hrefOf({ name }: Group, operationId?: string): string {
  return `${REFERENCE_PATH}/${idOf(name)}.html${operationId === undefined ? "" : `#${operationId}`}`;
}

function introduction({ info }: OpenApiDocument, baseUrl: string): Html {
  return html`<section id="introduction" class="row">
    <div class="text">
      <h1>API reference</h1>
      <p class="lead">${info.summary}. <span class="version">Version ${info.version}.</span></p>
      ${prose(info.description)}
    </div>
    <div class="code">
      ${panel("Base URL", html`<pre tabindex="0"><code>${baseUrl}</code></pre>`)}
      ${samplePanel("Authentication", [
        {
          name: "curl",
          label: "cURL",
          text: `curl ${baseUrl}/v1/me \\\n  -H "Authorization: Bearer $SERVICE_API_KEY"`,
        },
        {
          name: "node",
          label: "Node.js",
          text: `const response = await fetch("${baseUrl}/v1/me", {\n  headers: { Authorization: \`Bearer \${process.env.SERVICE_API_KEY}\` },\n});`,
        },
        { name: "cli", label: "CLI", text: inProject("service login\nservice whoami") },
      ])}
    </div>
  </section>`;
}

function groupSection(
  documents: Documents,
  { name, description, operations, areWebhooks }: Group,
  baseUrl: string,
): Html {
  return html`<section class="group">
    <div class="row">
      <div class="text">
        <h1>${name}</h1>
        ${prose(description)}
      </div>
    </div>
    ${operations.map((operation) =>
      areWebhooks ? webhookSection(documents, operation) : operationSection(documents, operation, baseUrl),
    )}
  </section>`;
}

function operationSection(documents: Documents, operation: Operation, baseUrl: string): Html {
  const { operationId, method, path, body, success, errors } = operation;
  const takesKey = (operation.security ?? []).some((scheme) => "apiKey" in scheme);
  const isStream = success.mediaType === "text/event-stream";
  return html`<article id="${operationId}" class="row" data-method="${method}" data-path="${path}">
    <div class="text">
      ${heading(operation)}
      <p class="path">${methodBadge(method)} <code>${path}</code></p>
      ${prose(operation.description)} ${parameterLists(documents, operation.parameters, ["path", "query"])}
      ${
        body !== undefined &&
        body.schema.properties !== undefined &&
        html`<h3>Body</h3>
          ${attributes(documents, body.schema, { showsRequired: true })}`
      }
      ${
        success.schema?.properties !== undefined &&
        html`<h3>Returns</h3>
          <p>${inline(success.description)}.</p>
          <details>
            <summary>Attributes of the response</summary>
            ${attributes(documents, success.schema, { showsRequired: false })}
          </details>`
      }
      ${parameterLists(documents, operation.parameters, ["header"])}
      <details class="errors">
        <summary>Errors</summary>
        ${errors.map(
          ({ status, description }) =>
            html`<h4>${status} ${STATUS_CODES[status]}</h4>
              ${prose(description)}`,
        )}
      </details>
    </div>
    <div class="code">
      ${takesKey && samplePanel("Request", requestSamples(operation, baseUrl), !isStream)}
      ${responsePanel(operation.success)}
    </div>
  </article>`;
}

function webhookSection(documents: Documents, operation: Operation): Html {
  const { path, body } = operation;
  const command = inProject(path.endsWith(".ping") ? "service endpoints ping we_…" : `service trigger ${path}`);
  return html`<article id="${operation.operationId}" class="row">
    <div class="text">
      ${heading(operation)}
      <p class="path"><code>${path}</code></p>
      ${prose(operation.description)} ${parameterLists(documents, operation.parameters, ["header"])}
      <details>
        <summary>Attributes of the event</summary>
        ${attributes(documents, body!.schema, { showsRequired: false })}
      </details>
    </div>
    <div class="code">
      ${panel("Send one to your application", html`<pre tabindex="0"><code>${command}</code></pre>`, true)}
      ${panel("Body", html`<pre tabindex="0"><code>${json(body!.example)}</code></pre>`, true)}
    </div>
  </article>`;
}

function heading({ operationId, summary }: Operation): Html {
  return html`<h2><a href="#${operationId}">${summary}</a></h2>`;
}

const PLACES = { path: "Path parameters", query: "Query parameters", header: "Headers" } as const;

function parameterLists(
  documents: Documents,
  list: readonly ParameterObject[],
  places: readonly (keyof typeof PLACES)[],
): Html[] {
  return places.flatMap((place) => {
    const found = list.filter((parameter) => parameter.in === place);
    if (found.length === 0) return [];
    return html`<h3>${PLACES[place]}</h3>
      ${parameters(documents, found)}`;
  });
}

function responsePanel({ status, example, mediaType }: Operation["success"]): Html {
  const title = `${status} ${STATUS_CODES[status]}`;
  if (example === undefined) return panel(title, html`<p>No body.</p>`);
  const text = mediaType === "application/json" ? json(example) : html`${example as string}`;
  return panel(title, html`<pre tabindex="0"><code>${text}</code></pre>`, true);
}

function samplePanel(title: string, samples: readonly Sample[], canBeTried = false): Html {
  return html`<figure class="panel samples">
    <figcaption>
      <span>${title}</span>
      <span class="languages" role="group" aria-label="Language">
        ${samples.map(({ name, label }) => html`<button type="button" data-choose="${name}" hidden>${label}</button>`)}
      </span>
      ${canBeTried && html`<button type="button" data-try hidden>Try it</button>`}
      <button type="button" data-copy hidden>Copy</button>
    </figcaption>
    ${samples.map(({ name, text }) => html`<pre tabindex="0" data-sample="${name}"><code>${text}</code></pre>`)}
  </figure>`;
}

function panel(title: string, content: Html, canBeCopied = false): Html {
  return html`<figure class="panel">
    <figcaption>
      <span>${title}</span> ${canBeCopied && html`<button type="button" data-copy hidden>Copy</button>`}
    </figcaption>
    ${content}
  </figure>`;
}

function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function idOf(group: string): string {
  return group
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, "-")
    .replace(/-$/, "");
}

/** Renders indented JSON with keys and values highlighted. */
function json(value: unknown, indent = ""): Html {
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return block(
      "[",
      "]",
      value.map((item) => html`${inner}${json(item, inner)}`),
      indent,
    );
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => html`${inner}<span class="key">${JSON.stringify(key)}</span>: ${json(member, inner)}`,
    );
    return block("{", "}", members, indent);
  }
  return typeof value === "string"
    ? html`<span class="string">${JSON.stringify(value)}</span>`
    : html`<span class="literal">${JSON.stringify(value)}</span>`;
}

function block(open: string, close: string, lines: readonly Html[], indent: string): Html {
  if (lines.length === 0) return html`${open}${close}`;
  return new Html(`${open}\n${lines.map(({ text }) => text).join(",\n")}\n${indent}${close}`);
}

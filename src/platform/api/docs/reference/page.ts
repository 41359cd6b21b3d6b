import { STATUS_CODES } from "node:http";
import { HEADERS } from "../../../../contract/headers.ts";
import { commandPath, exampleId, operationCommand, outputOf, requestSamples, type Sample } from "./samples.ts";
import { inProject } from "../../../../contract/shell-command.ts";
import { html, type Html } from "../../../http/pages/html.ts";
import {
  GUIDES_PATH,
  inline,
  MISSING_PAGE,
  missingPage,
  plainText,
  prose,
  REFERENCE_PATH,
  type SiteFiles,
  sitePage,
  steps,
} from "../site.ts";
import { codePanel, highlight, json, panel, samplePanel, sourceLink } from "./panels.ts";
import { attributes, parameters } from "./attributes.ts";
import {
  type ApiObject,
  Documents,
  type OpenApiDocument,
  type Operation,
  type ParameterObject,
  type Schema,
} from "./document.ts";
import { errorExample } from "./error-examples.ts";
import { GENERAL_ERRORS } from "../../openapi/responses.ts";
import { PROBLEMS_PATH } from "../../../http/problem.ts";

/**
 * Renders the API reference: an OpenAPI document as a page for each of its groups, by name, and one at "" that lists all
 * operations. They can be read, navigated and printed without scripts. Their script adds the search, a choice of
 * languages and "Try it".
 */
export function referencePages(document: OpenApiDocument, baseUrl: string, files: SiteFiles) {
  const documents = new Documents(document);
  const groups = groupsOf(documents);
  const order = [
    { href: REFERENCE_PATH, title: "Introduction" },
    ...groups.map((group) => ({ href: hrefOf(group), title: group.name })),
  ];
  const pages = groups.map((group, index) => {
    const content = html`${groupSection(documents, group, baseUrl)} ${steps(order[index], order[index + 2])}`;
    return [
      idOf(group.name),
      pageOf(`${group.name} · API reference`, content, navigation(groups, group), files, plainText(group.description)),
    ] as const;
  });
  const [lead, ...sections] = sectionsOf(document.info.description);
  const menu = navigation(groups, undefined, sections);
  const start = html`${introduction(document, lead!, baseUrl)}
  ${sections.map((section) => introductionSection(documents, section, baseUrl))} ${contents(groups)}
  ${steps(undefined, order[1])}`;
  const missing = html`<div class="row">
    <div class="text">${missingPage(html`<a href="${REFERENCE_PATH}">all operations</a>`)}</div>
  </div>`;
  return new Map([
    ["", pageOf("API reference", start, menu, files, `${document.info.summary}.`)],
    [MISSING_PAGE, pageOf("Page not found", missing, navigation(groups, undefined), files)],
    ...pages,
  ]);
}

function pageOf(title: string, content: Html, menu: Html, files: SiteFiles, description?: string): string {
  return sitePage({ title, section: "API", menu, content, ...(description !== undefined && { description }) }, files);
}

interface Group {
  name: string;
  /** Its name in the menu, and the heading above it. */
  label: string;
  heading: string;
  description: string;
  operations: Operation[];
  /** The objects that its page describes. */
  objects: ApiObject[];
  /** True for deliveries, which a receiver handles, instead of API calls. */
  areWebhooks: boolean;
}

function groupsOf(documents: Documents): Group[] {
  const operations = documents.operations();
  const webhooks = documents.webhooks();
  return documents.document.tags.flatMap(({ name, description }): Group[] => {
    const heading = documents.document["x-tagGroups"].find(({ tags }) => tags.includes(name))!.name;
    const of = (list: readonly Operation[]) => list.filter(({ tags }) => tags.includes(name));
    const received = of(webhooks);
    const objects = [...documents.objects.values()].filter(({ group }) => group === name);
    if (received.length === 0)
      return [{ name, label: name, heading, description, areWebhooks: false, operations: of(operations), objects }];
    // Their bodies are long.
    const resources = [...new Set(received.map(resourceOf))];
    return resources.map((resource) => ({
      name: `${name}: ${resource}.*`,
      label: `${resource}.*`,
      heading,
      description,
      areWebhooks: true,
      objects,
      operations: received.filter((operation) => resourceOf(operation) === resource),
    }));
  });
}

/** Returns the resource of an event type, such as `customer`. */
function resourceOf({ path }: Operation): string {
  return path.split(".", 1)[0]!;
}

/** Every group, and the operations of the open one; without one, the sections of the introduction. */
function navigation(groups: readonly Group[], open: Group | undefined, sections: readonly Section[] = []): Html {
  return html`<li>
      <a class="group" href="${REFERENCE_PATH}" ${sections.length > 0 && html`aria-current="page"`}>Introduction</a>
      ${
        sections.length > 0 &&
        html`<ul>
          ${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
        </ul>`
      }
    </li>
    ${groups.map(
      (group, index) =>
        html`<li>
          ${groups[index - 1]?.heading !== group.heading && html`<h2>${group.heading}</h2>`}
          <a class="group" href="${hrefOf(group)}" ${group === open && html`aria-current="page"`}>${group.label}</a>
          ${group === open && operationLinks(group)}
        </li>`,
    )}`;
}

function operationLinks(group: Group): Html {
  return html`<ul>
    ${group.objects.map(({ id, title }) => html`<li><a href="${hrefOf(group, id)}">${title}</a></li>`)}
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

function hrefOf({ name }: Pick<Group, "name">, part?: string): string {
  return `${REFERENCE_PATH}/${idOf(name)}.html${part === undefined ? "" : `#${part}`}`;
}

/** A part of the introduction: its text, and its blocks of code. */
interface Section {
  id: string;
  title: string;
  text: string;
  blocks: { language: string; title: string; text: string }[];
}

/** Returns the parts of a Markdown text, each with a heading except for the first. */
function sectionsOf(markdown: string): Section[] {
  return markdown.split(/^(?=## )/m).map((section) => {
    const [, title = "", body = ""] = /^(?:## (.*)\n)?([^]*)$/.exec(section)!;
    const blocks = [...body.matchAll(/^```(\w+) (.*)\n([^]*?)\n```$/gm)].map(([, language, title, text]) => ({
      language: language!,
      title: title!,
      text: text!,
    }));
    return { id: idOf(title), title, text: body.replaceAll(/^```[^]*?^```$/gm, "").trim(), blocks };
  });
}

function introduction({ info }: OpenApiDocument, { text }: Section, baseUrl: string): Html {
  return html`<section id="introduction" class="row">
    <div class="text">
      ${sourceLink("introduction")}
      <h1>API reference</h1>
      <p class="lead">${info.summary}. <span class="version">Version ${info.version}.</span></p>
      ${prose(text)}
    </div>
    <div class="code">${codePanel("Base URL", baseUrl)}</div>
  </section>`;
}

function introductionSection(documents: Documents, { id, title, text, blocks }: Section, baseUrl: string): Html {
  const code = html`${id === "authentication" && samplePanel("Request", identitySamples(documents, baseUrl))}
  ${blocks.map((block) => codePanel(block.title, highlight(block.text, block.language)))}`;
  return part(id, title, html`${prose(text)}`, code);
}

/** A part of a page: text with a heading that links to it, and code beside it. */
function part(id: string, title: string, text: Html, code: Html, data?: Html): Html {
  return html`<article id="${id}" class="row" ${data}>
    <div class="text">
      <h2><a href="#${id}">${title}</a></h2>
      ${text}
    </div>
    <div class="code">${code}</div>
  </article>`;
}

/** Samples of a request with a credential, and nothing else. */
function identitySamples(documents: Documents, baseUrl: string): Sample[] {
  const identity = documents.operations().find(({ path }) => path === "/v1/me")!;
  const signIn = inProject(`service login --base-url ${baseUrl}\nservice whoami`);
  return requestSamples(identity, baseUrl).map((sample) =>
    sample.name === "cli" ? { ...sample, text: signIn } : sample,
  );
}

function groupSection(
  documents: Documents,
  { name, description, objects, operations, areWebhooks }: Group,
  baseUrl: string,
): Html {
  return html`<section class="group">
    <div class="row">
      <div class="text">
        ${sourceLink(idOf(name))}
        <h1>${name}</h1>
        ${prose(description)}
      </div>
    </div>
    ${objects.map((object) => objectSection(documents, object))}
    ${operations.map((operation) =>
      areWebhooks ? webhookSection(documents, operation) : operationSection(documents, operation, baseUrl),
    )}
  </section>`;
}

function objectSection(documents: Documents, { id, title, schema }: ApiObject): Html {
  return part(id, title, attributes(documents, schema, false), codePanel(title, json(schema.examples?.[0])));
}

/** Headers that many operations take, with the section of the introduction that explains each. */
const SECTIONS_OF_HEADERS: Readonly<Record<string, string>> = {
  [HEADERS.version]: "versions",
  [HEADERS.idempotencyKey]: "idempotency",
};

function operationSection(documents: Documents, operation: Operation, baseUrl: string): Html {
  const { operationId, summary, method, path, body, success } = operation;
  const shared = operation.parameters.filter(({ name }) => name in SECTIONS_OF_HEADERS);
  const own = operation.parameters.filter((parameter) => !shared.includes(parameter));
  const takesKey = (operation.security ?? []).some((scheme) => "apiKey" in scheme);
  const isStream = success.mediaType === "text/event-stream";
  const text = html`<p class="path">${methodBadge(method)} <code>${path}</code></p>
    ${prose(operation.description)} ${parameterLists(documents, operation.parameters, ["path", "query"])}
    ${body !== undefined && bodySection(documents, body.schema)}
    ${success.schema?.properties !== undefined && returned(documents, success, success.schema)}
    ${parameterLists(documents, own, ["header"])}
    ${
      shared.length > 0 &&
      html`<p class="type">
        Optional headers:
        ${shared.map(({ name }, at) => html`${at > 0 && ", "}<a href="${REFERENCE_PATH}#${SECTIONS_OF_HEADERS[name]}"><code>${name}</code></a>`)}
      </p>`
    }
    ${commandLink(operation)}`;
  const request = takesKey
    ? samplePanel("Request", requestSamples(operation, baseUrl), !isStream)
    : body !== undefined && codePanel("Body", json(body.example));
  const code = html`${request} ${responsePanels(operation)} ${errorPanel(operation, baseUrl)}`;
  return part(operationId, summary, text, code, html`data-method="${method}" data-path="${path}"`);
}

/** What an operation returns: an object that has a section, or a few attributes. */
function returned(documents: Documents, { description, example }: Operation["success"], schema: Schema): Html {
  const object = documents.objectOf(schema);
  if (object === undefined) {
    return html`<h3>Returns</h3>
      <p>${inline(description)}.</p>
      ${attributes(documents, schema, false)}`;
  }
  const { noun, id, group, isListed } = object;
  const [usual] = object.schema.examples ?? [];
  // A secret is shown once.
  const further = isListed ? [] : Object.keys(example as object).filter((name) => !(name in (usual as object)));
  return html`<h3>Returns</h3>
    <p>
      ${isListed ? html`A <a href="${REFERENCE_PATH}#pagination">page</a> of` : "The"}
      <a href="${hrefOf({ name: group }, id)}">${noun} object${isListed && "s"}</a>${further.map(
        (name) => html`, with <code>${name}</code>`,
      )}.
    </p>`;
}

/** A link to the reference of the command that sends the request. */
function commandLink({ operationId, method, path }: Operation): Html | undefined {
  const command = operationCommand({ name: operationId, method, path });
  if (command === undefined) return undefined;
  const words = commandPath(command.text);
  const href = `${GUIDES_PATH}/commands-${words.split(" ")[1]}.html#${words.replaceAll(" ", "-")}`;
  return html`<p class="type">
    Command: <a href="${href}"><code>${words.replace("service ", "")}</code></a>
  </p>`;
}

/** The attributes of a body, or of each item of an array. */
function bodySection(documents: Documents, schema: Schema): Html {
  const item = schema.items && documents.schema(schema.items);
  return html`<h3>Body</h3>
    ${item && html`<p>An array of objects:</p>`} ${attributes(documents, item ?? schema, true)}`;
}

/** The errors of an operation besides those that any request can get, each with an example. */
function errorPanel(operation: Operation, baseUrl: string): Html {
  const takesInput = operation.body !== undefined || operation.parameters.some((parameter) => parameter.in === "query");
  const codes = operation.errors.filter(
    (code) => !GENERAL_ERRORS.includes(code) && (takesInput || code !== "invalid_request"),
  );
  const list = codes.map((code) => errorExample(code, operation.operationId, exampleId(operation), baseUrl));
  return panel(
    "Errors",
    html`${list.map(
        ({ code, status, title, problem }) =>
          html`<details class="error">
            <summary>${status} <code>${code}</code></summary>
            <p><a href="${PROBLEMS_PATH}/${code}">${title}</a></p>
            <pre tabindex="0"><code>${json(problem)}</code></pre>
          </details>`,
      )}
      <p>Any request can also get one of the <a href="${REFERENCE_PATH}#errors">general errors</a>.</p>`,
  );
}

function webhookSection(documents: Documents, operation: Operation): Html {
  const { operationId, summary, path, body } = operation;
  const command = inProject(path.endsWith(".ping") ? "service endpoints ping we_…" : `service trigger ${path}`);
  const text = html`<p class="path"><code>${path}</code></p>
    ${prose(operation.description)} ${parameterLists(documents, operation.parameters, ["header"])}
    <details>
      <summary>Attributes of the event</summary>
      ${attributes(documents, body!.schema, false)}
    </details>`;
  const code = html`${codePanel("Send one to your application", highlight(command, "sh"))}
  ${codePanel("Body", json(body!.example))}`;
  return part(operationId, summary, text, code);
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

/** The response, and what the command prints of it if that is not the same. */
function responsePanels(operation: Operation): Html {
  const output = outputOf(operation);
  const response = responsePanel(operation.success);
  if (output === undefined) return response;
  return html`<div data-sample="curl node python">${response}</div>
    <div data-sample="cli">${codePanel("Output of the command", json(output))}</div>`;
}

function responsePanel({ status, example, mediaType }: Operation["success"]): Html {
  const title = `${status} ${STATUS_CODES[status]}`;
  if (example === undefined) return panel(title, html`<p>No body.</p>`);
  return codePanel(title, mediaType === "application/json" ? json(example) : (example as string));
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

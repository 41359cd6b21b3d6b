// Builds the guides as HTML from docs/*.md, all in one folder with relative links: the platform serves them at /docs/guides,
// and any other host can, too. docs/README.md sets the order of pages and the menu.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { basename, join } from "node:path";
import { build } from "esbuild";
import MarkdownIt from "markdown-it";

const ASSETS = "/dashboard/assets/";
/** A page with fewer sections has no list of them. */
const MIN_SECTIONS = 3;
const MAX_WORDS = 6000;

/** Writes the pages, what they load, and the index of the search. */
export async function buildGuides(root, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: { script: "src/dashboard/guides/main.ts", style: "src/dashboard/guides/style.css" },
    outdir: folder,
    external: [`${ASSETS}*`],
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022"],
    legalComments: "none",
    logLevel: "warning",
  });
  const style = join(folder, "style.css");
  writeFileSync(style, readFileSync(style, "utf8").replaceAll(ASSETS, ""));
  const fonts = join(root, "src/dashboard/fonts");
  for (const name of readdirSync(fonts))
    if (name.endsWith(".woff2")) copyFileSync(join(fonts, name), join(folder, name));
  const docs = join(root, "docs");
  for (const name of readdirSync(docs)) if (name.endsWith(".svg")) copyFileSync(join(docs, name), join(folder, name));
  const shared = await contract(root);
  const { OPERATIONS, ERRORS, RESOURCES, kindOfPath, EVENT_TYPES } = shared;
  const { introduction, siteHeader, narrowLinks, highlight, inProject } = shared;
  const markdown = new MarkdownIt({ highlight: (code, language) => highlight(code, language).text });
  const groups = groupsOf(docs);
  const site = { groups, commands: commandsOf(docs), siteHeader, narrowLinks };
  const pages = groups.flatMap(({ pages }) => pages.flatMap(({ file }) => pagesOf(docs, file)));
  const home = { file: "README.md", name: "index", title: "Documentation", text: read(docs, "README.md") };
  const anchors = new Map(
    pages.flatMap(({ file, name, text }) => sectionsOf(text).map(({ id }) => [`${file}#${id}`, `${name}.html#${id}`])),
  );
  const operations = new Map(
    OPERATIONS.map(({ name, method, path }) => [
      `${method} ${path}`,
      `/docs/reference/${referenceName(RESOURCES[kindOfPath(path)].labels)}.html#${name}`,
    ]),
  );
  const entries = [
    ...sectionsOf(introduction("", "")).map(({ id, heading, words }) => ({
      title: heading,
      page: "API",
      url: `/docs#${id}`,
      words,
    })),
    ...OPERATIONS.map(({ summary, details = "", method, path }) => {
      const route = `${method} ${path}`;
      const { labels } = RESOURCES[kindOfPath(path)];
      return { title: summary, page: `API: ${labels}`, url: operations.get(route), words: `${details} ${route}` };
    }),
    ...EVENT_TYPES.map((type) => {
      const name = type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter) => letter.toUpperCase());
      const url = `/docs/reference/webhooks-${referenceName(type.split(".", 1)[0])}.html#on${name}`;
      return { title: type, page: "API: Webhooks", url, words: "Event type" };
    }),
  ];
  for (const [i, page] of [home, ...pages].entries()) {
    const tokens = markdown.parse(page.text, {});
    prepare(tokens, page, { anchors, errors: ERRORS, operations, inProject });
    const rendered = markdown.renderer.render(tokens, markdown.options, {});
    // Both may be wider than the page, and are then scrolled with the keyboard, too.
    const scrolled = rendered
      .replaceAll(/<table>(?=\s*<thead>\s*<tr>\s*<th>Flag<)/g, '<table class="flags">')
      // Defaults can be long paths and names.
      .replaceAll(/<td>[^<]*<\/td>(?=\s*<\/tr>)/g, (cell) => cell.replaceAll(/(?<=\w)[/_](?=\w)/g, "$&<wbr>"))
      .replaceAll(/<(pre|table)(?=[ >])/g, '<$1 tabindex="0"');
    const content = withParent(page, scrolled);
    const [previous, next] = i === 0 ? [undefined, pages[0]] : [pages[i - 2] ?? home, pages[i]];
    writeFileSync(
      join(folder, `${page.name}.html`),
      htmlOf({ page, content, sections: headingsOf(tokens), previous, next, ...site }),
    );
    for (const { id, heading, words } of i === 0 ? [] : sectionsOf(page.text)) {
      // A heading that only has others below it says nothing.
      if (words.trim() === "") continue;
      const { status } = page.file === "errors.md" && Object.hasOwn(ERRORS, heading) ? ERRORS[heading] : {};
      const place = status === undefined ? page.title : `${page.title}: ${status} ${STATUS_CODES[status]}`;
      entries.push({ title: heading, page: place, url: `${page.name}.html#${id}`, words });
    }
    if (page.file === "errors.md") entries.push(...rowsOf(page.text, page.title, ERRORS));
  }
  const missing = { file: "", title: "Page not found" };
  const content = `<h1>Page not found</h1>\n<p>Choose a page from the menu, search, or see <a href="index.html">all pages</a>.</p>`;
  // Hosts of static files serve a file of this name, too.
  writeFileSync(join(folder, "404.html"), htmlOf({ page: missing, content, sections: [], ...site }));
  writeFileSync(join(folder, "search.json"), JSON.stringify(entries));
}

/** Adds a link to the page that a part belongs to. */
function withParent({ file, name }, content) {
  const isPart = file === "commands.md" && name !== "commands";
  return isPart ? `<p class="up"><a href="commands.html">Commands</a></p>\n${content}` : content;
}

/** Returns the lists of docs/README.md. */
function groupsOf(docs) {
  return read(docs, "README.md")
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      name: section.split("\n", 1)[0],
      pages: [...section.matchAll(/\[([^\]]+)\]\(([\w-]+\.md|\.\.\/README\.md)(?:#install)?\)/g)].map(
        ([, title, file]) => ({
          title,
          file,
        }),
      ),
    }));
}

/** Returns the lists at the top of docs/commands.md. */
function commandsOf(docs) {
  return read(docs, "commands.md")
    .split(/^## /m, 1)[0]
    .split(/^(?=\*\*)/m)
    .slice(1)
    .map((section) => ({
      name: plain(section.split("\n", 1)[0]),
      commands: [...section.matchAll(/^- \[`(\w+)`\]/gm)].map(([, command]) => command),
    }));
}

/** Returns the pages of a file: a long one has a page for each of its sections. */
function pagesOf(docs, file) {
  if (file === FRONT_PAGE) return [quickStart(docs)];
  const text = read(docs, file);
  const name = basename(file, ".md");
  const page = { file, name, title: titleOf(text), text };
  if (file !== "commands.md") return [page];
  const [start, ...sections] = text.split(/^(?=## service )/m);
  return [
    { ...page, text: start },
    ...sections.map((section) => {
      const title = section.split("\n", 1)[0].slice(3);
      return { file, name: `commands-${title.replace("service ", "")}`, title, text: section };
    }),
  ];
}

const FRONT_PAGE = "../README.md";

/** The part of the front page that says how to begin. */
function quickStart(docs) {
  const sections = read(docs, FRONT_PAGE).split(/^(?=## )/m);
  const text = ["Install", "Quick start"].map((title) =>
    sections.find((section) => section.startsWith(`## ${title}\n`)),
  );
  const title = "Install and quick start";
  return {
    file: FRONT_PAGE,
    name: "quick-start",
    title,
    text: `# ${title}\n\n${text.join("").replaceAll("](docs/", "](")}`,
  };
}

/** Returns the headings of a page with the words of their sections. */
function sectionsOf(text) {
  const sections = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      isCode = !isCode;
      // Code belongs to no sentence.
      if (sections.length > 0) sections.at(-1).words += "· ";
    }
    const heading = isCode ? undefined : /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ id: idOf(heading), heading: plain(heading), words: "" });
    // The name of another page is what that page is about.
    else if (sections.length > 0 && !/^(```|- Guide: )/.test(line)) sections.at(-1).words += `${plain(line)} `;
  }
  return sections.map(({ words, ...section }) => ({
    ...section,
    words: words.replaceAll(/\s+/g, " ").slice(0, MAX_WORDS),
  }));
}

/** Returns the codes that have a row instead of a heading: those of deliveries and signatures. */
function rowsOf(text, page, errors) {
  return [...text.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)]
    .filter(([, code]) => !Object.hasOwn(errors, code))
    .map(([, code, cells]) => ({
      title: code,
      page,
      url: `errors.html#${code}`,
      words: plain(cells).replaceAll(/\s+/g, " "),
    }));
}

/** Gives headings their anchors, and links the files that they lead to on this site. */
function prepare(tokens, { file, text }, { anchors, errors, operations, inProject }) {
  const isPart = !/^# /m.test(text);
  for (const [i, token] of tokens.entries()) {
    // A part of a longer file begins with a heading of the second level.
    if (isPart && token.type.startsWith("heading_")) token.tag = `h${Number(token.tag[1]) - 1}`;
    if (token.type === "heading_open") token.attrSet("id", idOf(tokens[i + 1].content));
    const code =
      tokens[i + 1]?.children?.length === 1 && tokens[i + 1].children[0].type === "code_inline"
        ? tokens[i + 1].children[0].content
        : undefined;
    // Each error code can be linked to: those of the API have a heading, the others a row.
    if (
      file === "errors.md" &&
      code !== undefined &&
      !Object.hasOwn(errors, code) &&
      token.type === "td_open" &&
      tokens[i - 1].type === "tr_open"
    )
      tokens[i - 1].attrSet("id", code);
    if (token.type === "heading_open" && Object.hasOwn(errors, code ?? "")) linkProblem(tokens[i + 1], code);
    if (token.type === "heading_close" && token.tag !== "h1") addAnchor(tokens[i - 1]);
    for (const child of file === "README.md" ? (token.children ?? []) : []) {
      if (child.type === "code_inline" && /^\/(docs|openapi\.json)$/.test(child.content))
        [child.type, child.content] = ["html_inline", `<a href="${child.content}"><code>${child.content}</code></a>`];
    }
    // The operations of a command.
    if (file === "commands.md" && token.content.startsWith("API: ")) {
      for (const child of token.children) {
        const url = child.type === "code_inline" ? operations.get(child.content) : undefined;
        if (url !== undefined)
          [child.type, child.content] = ["html_inline", `<a href="${url}"><code>${child.content}</code></a>`];
      }
    }
    for (const child of token.children ?? []) {
      if (child.type === "link_open") child.attrSet("href", linkOf(child.attrGet("href"), file, anchors));
      // Readers copy commands from the text, too, where most Linux systems have another program of this name.
      if (child.type === "code_inline" && tokens[i - 1].type !== "heading_open")
        child.content = inProject(child.content);
    }
  }
}

/** Links the heading of an error to its page on the platform. */
function linkProblem(heading, code) {
  const link = new heading.constructor("html_inline", "", 0);
  link.content = `<a href="/problems/${code}"><code>${code}</code></a>`;
  heading.children = [link];
}

/** Adds a link to a heading, with which readers copy its address. */
function addAnchor(heading) {
  const label = `Link to ${plain(heading.content)}`;
  const link = new heading.constructor("html_inline", "", 0);
  link.content = ` <a class="anchor" href="#${idOf(heading.content)}" aria-label="${escape(label).replaceAll('"', "&quot;")}">#</a>`;
  heading.children.push(link);
}

/** Returns the headings below the title. */
function headingsOf(tokens) {
  return tokens.flatMap(({ type, tag }, i) => {
    if (type !== "heading_open" || !/^h[23]$/.test(tag)) return [];
    const { content } = tokens[i + 1];
    return { tag, id: idOf(content), text: plain(content) };
  });
}

function linkOf(href, file, anchors) {
  if (/^(https?:|\.\.\/(?!README\.md))/.test(href)) return href;
  const [path, anchor] = href.split("#");
  if (path === FRONT_PAGE) return `quick-start.html#${anchor ?? ""}`;
  const target = path === "" ? file : path;
  if (anchor !== undefined) return anchors.get(`${target}#${anchor}`) ?? `${basename(target, ".md")}.html#${anchor}`;
  if (target === "README.md") return "index.html";
  return /^[\w-]+\.md$/.test(target) ? `${basename(target, ".md")}.html` : target;
}

function guidesMenu(page, { groups }) {
  return groups.map(({ name, pages }) => {
    const items = pages.map(({ title, file }) => {
      const current = file === page.file ? ' aria-current="page"' : "";
      return `<li><a href="${file === FRONT_PAGE ? "quick-start" : basename(file, ".md")}.html"${current}>${escape(title)}</a></li>`;
    });
    if (name === "Reference") items.push(`<li><a href="/docs">API</a></li>`);
    return `<li><h2>${escape(name)}</h2><ul>${items.join("")}</ul></li>`;
  });
}

/** Returns the menu of the commands, as the API reference has one of its groups. */
function commandsMenu(page, { commands: groups, narrowLinks }) {
  const item = (name, label) =>
    `<li><a href="${name}.html"${name === page.name ? ' aria-current="page"' : ""}>${label}</a></li>`;
  const lists = groups.map(({ name, commands }) => {
    const items = commands.map((command) => item(`commands-${command}`, `<code>${command}</code>`));
    return `<li><h2>${escape(name)}</h2><ul>${items.join("")}</ul></li>`;
  });
  return [narrowLinks().text, item("commands", "Overview"), ...lists];
}

function htmlOf({ page, content, sections, previous, next, siteHeader, ...site }) {
  const menu = page.file === "commands.md" ? commandsMenu(page, site) : guidesMenu(page, site);
  const step = (to, rel, labelOf) =>
    to === undefined ? "<span></span>" : `<a rel="${rel}" href="${to.name}.html">${labelOf(escape(to.title))}</a>`;
  const steps = `${step(previous, "prev", (title) => `← ${title}`)}${step(next, "next", (title) => `${title} →`)}`;
  const links = sections.map(({ tag, id, text }) => `<li class="${tag}"><a href="#${id}">${escape(text)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escape(descriptionOf(page)).replaceAll('"', "&quot;")}">
<title>${escape(page.title)} · Service</title>
<link rel="stylesheet" href="style.css">
<script type="module" src="script.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${siteHeader("", sectionOf(page)).text}
<div class="columns">
<nav id="menu" aria-label="${page.file === "commands.md" ? "Commands" : "Guides"}" popover><ul>${menu.join("")}</ul></nav>
<main id="content" tabindex="-1">
${content}
${next === undefined && previous === undefined ? "" : `<nav class="steps" aria-label="Pages">${steps}</nav>`}
</main>
${links.length < MIN_SECTIONS ? "" : `<nav class="sections" aria-label="On this page"><h2>On this page</h2><ul>${links.join("")}</ul></nav>`}
</div>
</body>
</html>
`;
}

/** Returns the section of the site that a page belongs to. */
function sectionOf({ file }) {
  return { "commands.md": "Commands", "errors.md": "Errors" }[file] ?? "Guides";
}

/** Returns the first sentences of a page. */
function descriptionOf({ title, text = "" }) {
  const [, paragraph = title] = /^(?:#.*|)\n+((?![#\-`|!]).+(?:\n.+)*)/m.exec(text) ?? [];
  return plain(paragraph.replaceAll("\n", " ")).slice(0, 200);
}

/** Returns a group's name in the addresses of the API reference. */
function referenceName(name) {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

/** What the pages take from the source: the API's operations and errors, and the header that they share with its reference. */
async function contract(root) {
  const { outputFiles } = await build({
    stdin: {
      contents: [
        'export { OPERATIONS } from "./src/contract/operations.ts";',
        'export { ERRORS } from "./src/contract/errors.ts";',
        'export { EVENT_TYPES } from "./src/contract/event-types.ts";',
        'export { RESOURCES, kindOfPath } from "./src/contract/resources.ts";',
        'export { introduction } from "./src/platform/api/openapi/document.ts";',
        'export { inProject } from "./src/contract/shell-command.ts";',
        'export { narrowLinks, siteHeader } from "./src/platform/api/docs/site.ts";',
        'export { highlight } from "./src/platform/api/docs/reference/panels.ts";',
      ].join("\n"),
      resolveDir: root,
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    loader: { ".css": "text" },
    format: "esm",
    write: false,
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

function read(docs, file) {
  return readFileSync(join(docs, file), "utf8");
}

function titleOf(text) {
  return plain(/^# (.*)$/m.exec(text)[1]);
}

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Returns an anchor as GitHub makes it. */
function idOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}

function plain(text) {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*([^*]+)\*\*|(?<!\w)_([^_]+)_(?!\w)/g, "$1$2")
    .replaceAll(/`|(?<!\\)\||-{3,}/g, "")
    .replaceAll(/\\([*|])/g, "$1")
    .replace(/^- /, "")
    .replaceAll("&lt;", "<")
    .trim();
}

// Builds the guides as HTML from docs/*.md, all in one folder with relative links: the platform serves them at /docs/guides,
// and any other host can, too. docs/README.md sets the order of pages and the menu.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import MarkdownIt from "markdown-it";
import { llmsText } from "./llms-text.js";
import { referenceMarkdown } from "./reference-markdown.js";
import { commandName, idOf, plain, referenceName, searchEntries, sectionsOf, TERM } from "./search-entries.js";

const ASSETS = "/dashboard/assets/";
/** A page with fewer sections has no list of them. */
const MIN_SECTIONS = 3;
/** Characters of an example in a line, as `--help` breaks it on a terminal. */
const EXAMPLE_WIDTH = 76;
/** Characters of a page's description. */
const MAX_DESCRIPTION = 200;

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
  const { OPERATIONS, ERRORS, RESOURCES, kindOfPath } = shared;
  const { Html, sitePage, missingPage, errorsMenu, highlight, inProject, exampleLines } = shared;
  const markdown = new MarkdownIt({ highlight: (code, language) => highlight(code, language).text });
  const groups = groupsOf(docs);
  const commands = commandsOf(docs);
  const markup = (text) => new Html(text);
  const write = (page, content, headings = []) => {
    const { section, menu } =
      page.file === "errors.md"
        ? { section: "Errors", menu: errorsMenu("all") }
        : page.file === "commands.md"
          ? { section: "Commands", menu: commandsMenu(page, commands).map(markup) }
          : { section: "Guides", menu: guidesMenu(page, groups).map(markup) };
    const text = sitePage(
      {
        title: page.title,
        section,
        menu,
        content: markup(content),
        description: descriptionOf(page),
        headings: markup(headingLinks(headings)),
      },
      { script: "script.js", style: "style.css" },
      "",
    );
    writeFileSync(join(folder, `${page.name}.html`), text);
  };
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
  for (const [i, page] of [home, ...pages].entries()) {
    const parsed = markdown.parse(page.text, {});
    const tokens = page.file === "commands.md" ? parsed.flatMap((token) => examplesOf(token, exampleLines)) : parsed;
    prepare(tokens, page, { anchors, errors: ERRORS, operations, inProject });
    labelCells(tokens);
    const rendered = markdown.renderer.render(tokens, markdown.options, {});
    // Both may be wider than the page, and are then scrolled with the keyboard, too.
    const scrolled = rendered
      .replaceAll(/<table>(?=\s*<thead>\s*<tr>\s*<th>Flag<)/g, '<table class="flags">')
      // Too small to read on a phone.
      .replaceAll(/<img src="([^"]+)"[^>]*>/g, '<a class="picture" href="$1">$&</a>')
      // Defaults can be long paths and names.
      .replaceAll(/<td[^>]*>[^<]*<\/td>(?=\s*<\/tr>)/g, (cell) => cell.replaceAll(/(?<=\w)[/_](?=\w)/g, "$&<wbr>"))
      .replaceAll(/<(pre|table)(?=[ >])/g, '<$1 tabindex="0"');
    const [previous, next] = i === 0 ? [undefined, pages[0]] : [pages[i - 2] ?? home, pages[i]];
    const headings = headingsOf(tokens);
    const content = withSections(withParent(page, scrolled), headings);
    const source = `<p class="source"><a href="${page.name}.md">Markdown</a></p>`;
    write(page, `${source}\n${content}\n${stepsOf(previous, next)}`, headings);
    writeFileSync(join(folder, `${page.name}.md`), markdownOf(page, anchors));
  }
  const references = referenceMarkdown(shared);
  for (const [name, text] of references) writeFileSync(join(folder, `reference-${name}.md`), text);
  writeFileSync(join(folder, "llms.txt"), llmsText(groups, nameOf, [...references.keys()]));
  // Hosts of static files serve a file of this name, too.
  const missing = { file: "", name: "404", title: "Page not found" };
  write(missing, missingPage(markup('<a href="index.html">all pages</a>')).text);
  writeFileSync(join(folder, "search.json"), JSON.stringify(searchEntries([home, ...pages], operations, shared)));
}

/** Returns the Markdown of a page, with links to the other pages of this folder. */
function markdownOf({ file, text }, anchors) {
  // What follows the language of code is for the tests of these pages.
  return text
    .replaceAll(/^(```\w+) .*$/gm, "$1")
    .replaceAll(/(?<=\]\()[^()\s]+(?=\))/g, (target) =>
      linkOf(target, file, anchors).replace(/^([\w-]+)\.html/, "$1.md"),
    );
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
      pages: [...section.matchAll(/^- \[([^\]]+)\]\(([\w-]+\.md|\.\.\/[A-Z]+\.md)(?:#install)?\)(?:: (.*))?$/gm)].map(
        ([, title, file, about = ""]) => ({ title, file, about: plain(about) }),
      ),
    }))
    .filter(({ pages }) => pages.length > 0);
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
  const name = nameOf(file);
  const page = { file, name, title: titleOf(text), text };
  if (file !== "commands.md") return [page];
  const [start, ...sections] = text.split(/^(?=## service )/m);
  return [
    { ...page, text: start },
    ...sections.map((section) => {
      const title = commandName(section.split("\n", 1)[0].slice(3));
      return { file, name: `commands-${title}`, title, text: section };
    }),
  ];
}

const FRONT_PAGE = "../README.md";

/** Returns the name of a file's page. */
function nameOf(file) {
  return file === FRONT_PAGE ? "quick-start" : basename(file, ".md").toLowerCase().replace("readme", "index");
}

/** The parts of the front page that say how to begin, and whom to ask. */
function quickStart(docs) {
  const sections = read(docs, FRONT_PAGE).split(/^(?=## )/m);
  const text = ["Install", "Quick start", "Help"].map((title) =>
    sections.find((section) => section.startsWith(`## ${title}\n`)),
  );
  const title = "Install and quick start";
  return {
    file: FRONT_PAGE,
    name: nameOf(FRONT_PAGE),
    title,
    text: `# ${title}\n\n${text.join("")}`,
  };
}

/** Gives headings their anchors, and links the files that they lead to on this site. */
function prepare(tokens, { file, text }, { anchors, errors, operations, inProject }) {
  const isPart = text.startsWith("## ");
  let command = "";
  for (const [i, token] of tokens.entries()) {
    const [, term] = (token.type === "paragraph_open" && TERM.exec(tokens[i + 1].content)) || [];
    if (file === "glossary.md" && term !== undefined) token.attrSet("id", idOf(term));
    // A part of a longer file begins with a heading of the second level.
    if (isPart && token.type.startsWith("heading_")) token.tag = `h${Number(token.tag[1]) - 1}`;
    if (token.type === "heading_open") token.attrSet("id", idOf(tokens[i + 1].content));
    if (token.type === "heading_open" && file === "commands.md") command = idOf(tokens[i + 1].content);
    const [, flag] = (token.type === "td_open" && /^`(?:-\w, )?(--[\w-]+)/.exec(tokens[i + 1].content)) || [];
    if (file === "commands.md" && flag !== undefined && tokens[i - 1].type === "tr_open") {
      tokens[i - 1].attrSet("id", command + flag);
      addAnchor(tokens[i + 1], command + flag);
    }
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
    if (file === "commands.md" && token.type === "heading_open")
      tokens[i + 1].children[0].content = commandName(tokens[i + 1].children[0].content);
    if (token.type === "heading_close" && token.tag !== "h1") addAnchor(tokens[i - 1], idOf(tokens[i - 1].content));
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
      if (child.type === "code_inline" && tokens[i - 1].type === "paragraph_open")
        [child.type, child.content] = ["html_inline", codeOf(child.content)];
    }
  }
}

/** Renders code in a sentence: in one line if it is short, otherwise with its first two words and its flags in one each. */
function codeOf(text) {
  const parts = text.split(/(^.{1,24}$|^\S{1,12} \S{1,12}(?= )|(?<!\S)(?=\S{1,28}(?!\S))\S*-\S*)/);
  const words = parts.map((part, at) => (at % 2 === 1 ? `<span class="word">${escape(part)}</span>` : escape(part)));
  return `<code>${words.join("")}</code>`;
}

/** Returns the examples of a command as a block each, because readers copy one of them. Its comment is its caption. */
function examplesOf(token, exampleLines) {
  if (token.type !== "fence" || !token.info.startsWith("sh")) return [token];
  return [...token.content.matchAll(/^(?:# (.*)\n)?(.+)$/gm)].flatMap(([, comment, typed]) => {
    const caption = new token.constructor("html_block", "", 0);
    if (comment !== undefined) caption.content = `<p class="caption">${escape(comment)}:</p>\n`;
    const example = new token.constructor("fence", "code", 0);
    [example.info, example.content] = [token.info, `${exampleLines(typed, EXAMPLE_WIDTH).join("\n")}\n`];
    return [caption, example];
  });
}

/** Names the columns of cells, because a phone shows each row as a list. Two columns, a description or a name need none. */
function labelCells(tokens) {
  let names = [];
  let column = 0;
  for (const [i, token] of tokens.entries()) {
    if (token.type === "thead_open") names = [];
    if (token.type === "th_open") names.push(plain(tokens[i + 1].content));
    if (token.type === "tr_open") column = 0;
    if (token.type !== "td_open") continue;
    const name = names[column++];
    const needsName = column > 1 ? name !== "Description" : /^\d/.test(tokens[i + 1].content);
    if (names.length > 2 && needsName) token.attrSet("data-label", name);
  }
}

/** Links the heading of an error to its page on the platform. */
function linkProblem(heading, code) {
  const link = new heading.constructor("html_inline", "", 0);
  link.content = `<a href="/problems/${code}"><code>${code}</code></a>`;
  heading.children = [link];
}

/** Adds a link to a heading or a flag, with which readers copy its address. */
function addAnchor(heading, id) {
  const label = `Link to ${commandName(plain(heading.content))}`;
  const link = new heading.constructor("html_inline", "", 0);
  link.content = ` <a class="anchor" href="#${id}" aria-label="${escape(label).replaceAll('"', "&quot;")}">#</a>`;
  heading.children.push(link);
}

/** Returns the headings below the title. */
function headingsOf(tokens) {
  return tokens.flatMap(({ type, tag }, i) => {
    if (type !== "heading_open" || !/^h[23]$/.test(tag)) return [];
    const { content } = tokens[i + 1];
    return { tag, id: idOf(content), text: commandName(plain(content)) };
  });
}

function linkOf(href, file, anchors) {
  const [path, anchor] = href.split("#");
  // README.md and CHANGELOG.md are above the folder of the pages.
  const target = path === "" ? file : path.replace(/^docs\//, "");
  if (!/^(\.\.\/[A-Z]+|[\w-]+)\.md$/.test(target)) return href;
  if (anchor === undefined) return `${nameOf(target)}.html`;
  return anchors.get(`${target}#${anchor}`) ?? `${nameOf(target)}.html#${anchor}`;
}

function guidesMenu(page, groups) {
  return groups.map(({ name, pages }) => {
    const items = pages.map(({ title, file }) => {
      const current = file === page.file ? ' aria-current="page"' : "";
      return `<li><a href="${nameOf(file)}.html"${current}>${escape(title)}</a></li>`;
    });
    if (name === "Reference") items.push(`<li><a href="/docs/reference">API</a></li>`);
    return `<li><h2>${escape(name)}</h2><ul>${items.join("")}</ul></li>`;
  });
}

/** Returns the menu of the commands, as the API reference has one of its groups. */
function commandsMenu(page, groups) {
  const item = (name, label) =>
    `<li><a href="${name}.html"${name === page.name ? ' aria-current="page"' : ""}>${label}</a></li>`;
  const lists = groups.map(({ name, commands }) => {
    const items = commands.map((command) => item(`commands-${command}`, `<code>${command}</code>`));
    return `<li><h2>${escape(name)}</h2><ul>${items.join("")}</ul></li>`;
  });
  return [item("commands", "Overview"), ...lists];
}

/** Returns the links to the pages before and after a page. */
function stepsOf(previous, next) {
  const step = (to, rel, labelOf) =>
    to === undefined ? "<span></span>" : `<a rel="${rel}" href="${to.name}.html">${labelOf(escape(to.title))}</a>`;
  const links = `${step(previous, "prev", (title) => `← ${title}`)}${step(next, "next", (title) => `${title} →`)}`;
  return `<nav class="steps" aria-label="Pages">${links}</nav>`;
}

/** Lists the sections beside a page. */
function headingLinks(headings) {
  if (headings.length < MIN_SECTIONS) return "";
  return `<nav class="sections" aria-label="On this page"><h2>On this page</h2>${sectionList(headings)}</nav>`;
}

/** Lists the sections below the title, too, for narrow windows. */
function withSections(content, headings) {
  if (headings.length < MIN_SECTIONS) return content;
  const details = `<details class="outline"><summary>On this page</summary>${sectionList(headings)}</details>`;
  return content.replace("</h1>", `$&\n${details}`);
}

function sectionList(headings) {
  const links = headings.map(({ tag, id, text }) => `<li class="${tag}"><a href="#${id}">${escape(text)}</a></li>`);
  return `<ul>${links.join("")}</ul>`;
}

/** Returns the first sentences of a page, which search engines show. */
function descriptionOf({ title, text = "" }) {
  const [, paragraph = title] = /^(?:#.*|)\n+((?![#\-`|!]).+(?:\n.+)*)/m.exec(text) ?? [];
  const about = plain(paragraph.replaceAll("\n", " "));
  if (about.length <= MAX_DESCRIPTION) return about.replace(/:$/, ".");
  const start = about.slice(0, MAX_DESCRIPTION);
  // A sentence does not end with a folder.
  const [sentences] = /^.*[^. ][.:!?](?= )/.exec(start) ?? [];
  return sentences?.replace(/:$/, ".") ?? start.replace(/ \S*$/, "…");
}

/** What the pages take from the source: the API's operations and errors, and the header that they share with its reference. */
async function contract(root) {
  const { outputFiles } = await build({
    stdin: {
      contents: [
        'export { OPERATIONS } from "./src/contract/operations.ts";',
        'export { ERRORS } from "./src/contract/errors.ts";',
        'export { EVENT_TYPES } from "./src/contract/event-types.ts";',
        'export { RESOURCES, kindOfPath, nounOf } from "./src/contract/resources.ts";',
        'export { buildDocument, introduction } from "./src/platform/api/openapi/document.ts";',
        'export { referencePages } from "./src/platform/api/docs/reference/page.ts";',
        'export { API_VERSIONS } from "./src/contract/versions.ts";',
        'export { DEFAULT_BASE_URL } from "./src/contract/shell-command.ts";',
        'export { exampleLines } from "./src/cli/terminal/wrap.ts";',
        'export { inProject } from "./src/contract/shell-command.ts";',
        'export { errorsMenu, missingPage, sitePage } from "./src/platform/api/docs/site.ts";',
        'export { Html } from "./src/platform/http/pages/html.ts";',
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
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

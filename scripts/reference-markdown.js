// The pages of the API reference as Markdown.

/** Samples in further languages, buttons, and the values of long enumerations. */
const LEFT_OUT =
  /<pre[^>]* data-sample="(?!curl)[^]*?<\/pre>|<div data-sample="cli">[^]*?<\/figure>\s*<\/div>|<p class="source">[^]*?<\/p>|<button[^]*?<\/button>|<summary>All \d{3,} values<\/summary>[^]*?<\/details>/g;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** Returns the text of each page by its name. It names the default URL, which the platform replaces with its own. */
export function referenceMarkdown({ buildDocument, referencePages, API_VERSIONS, DEFAULT_BASE_URL: baseUrl }) {
  const document = buildDocument({ baseUrl, versions: API_VERSIONS.map(({ date }) => date), contact: undefined });
  const pages = [...referencePages(document, baseUrl, { script: "", style: "" })].filter(([name]) => name !== "404");
  return new Map(pages.map(([name, page]) => [name === "" ? "introduction" : name, markdownOf(page)]));
}

/** Returns the content of a page as Markdown. */
function markdownOf(page) {
  const [, content = ""] = /<main[^>]*>([^]*?)<nav class="steps"/.exec(page) ?? [];
  return content
    .replaceAll(LEFT_OUT, "")
    .replaceAll(
      /<span class="type">([^<]*)<\/span>(\s*<span class="required">)?(?:(?<=>)[^<]*<\/span>)?/g,
      (_tag, type, required) => (required === undefined ? `(${type})` : `(${type}, required)`),
    )
    .split(/<pre[^>]*>([^]*?)<\/pre>/)
    .map((part, at) => (at % 2 === 1 ? `\n\n\`\`\`\n${part.replaceAll(/<[^>]*>/g, "")}\n\`\`\`\n\n` : proseOf(part)))
    .join("")
    .replaceAll(/&(?:lt|gt|amp);|&#(\d+);/g, (entity, code) => ENTITIES[entity] ?? String.fromCodePoint(Number(code)))
    .replaceAll(/[ \t]+\n/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimStart();
}

/** Returns what is between two blocks of code. */
function proseOf(text) {
  const links = [];
  let depth = 0;
  const markup = (_tag, end, name, rest) => {
    const isEnd = end !== "";
    if (name === "ul") depth += isEnd ? -1 : 1;
    if (name === "li") return isEnd ? "" : `\n${"  ".repeat(depth - 1)}- `;
    if (name === "code") return "`";
    if (name === "strong") return "**";
    if (name === "a") {
      if (!isEnd) links.push(/href="([^"]*)"/.exec(rest)[1]);
      const href = isEnd ? links.pop() : links.at(-1);
      // Headings link to themselves.
      if (href.startsWith("#")) return "";
      return isEnd ? `](${href})` : "[";
    }
    if (depth > 0 && !isEnd && name === "p" && rest === "") return ": ";
    if (depth > 0) return !isEnd && (name === "summary" || rest.includes("facts")) ? ". " : " ";
    if (/^h[1-4]$/.test(name)) return isEnd ? "\n\n" : `\n\n${"#".repeat(Number(name[1]))} `;
    if (name === "figcaption" || name === "summary") return isEnd ? "**\n\n" : "\n\n**";
    return ["p", "ul", "figure"].includes(name) ? "\n\n" : "";
  };
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/<(\/?)(\w+)([^>]*)>/g, markup)
    .replaceAll(/(?<=\S) +(?=[:.,] |\n|\*\*\n)|(?<=\n\n(?:\*\*)?) +/g, "")
    .replaceAll(/(?<=\S) {2,}/g, " ");
}

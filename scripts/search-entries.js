// What the search of the documentation finds: the sections of its pages, and what the API has.
import { STATUS_CODES } from "node:http";

const MAX_WORDS = 6000;
/** Words that readers search for, and that the section itself does not have or stress. */
const ALIASES = {
  "quick-start.html#install": "node version 18 20 22 requirements",
  "testing-receivers.html#grades": "grade",
  "concepts.html#retry-schedule": "webhook backoff",
};
/** Pages that mention everything, but explain nothing. */
const UNSEARCHED = new Set(["index", "changelog"]);

/** Returns an entry for each section, operation, event type and error code. `operations` has the address of each by its route. */
export function searchEntries(
  pages,
  operations,
  { OPERATIONS, ERRORS, RESOURCES, EVENT_TYPES, kindOfPath, introduction },
) {
  const entries = [
    ...sectionsOf(introduction("", "")).map(({ id, heading, words }) => ({
      title: heading,
      page: "API",
      url: `/docs/reference#${id}`,
      words,
    })),
    ...OPERATIONS.map(({ summary, details = "", method, path }) => {
      const route = `${method} ${path}`;
      const { labels } = RESOURCES[kindOfPath(path)];
      return {
        title: summary,
        page: `API: ${labels}`,
        url: operations.get(route),
        words: `${plain(details)} ${route}`,
      };
    }),
    ...EVENT_TYPES.map((type) => {
      const name = type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter) => letter.toUpperCase());
      const url = `/docs/reference/webhooks-${referenceName(type.split(".", 1)[0])}.html#on${name}`;
      return { title: type, page: "API: Webhooks", url, words: "Event type" };
    }),
  ];
  for (const page of pages) {
    for (const { id, heading, words } of UNSEARCHED.has(page.name) ? [] : sectionsOf(page.text)) {
      // A heading that only has others below it says nothing.
      if (words.trim() === "") continue;
      const { status } = page.file === "errors.md" && Object.hasOwn(ERRORS, heading) ? ERRORS[heading] : {};
      const place = status === undefined ? page.title : `${page.title}: ${status} ${STATUS_CODES[status]}`;
      const isCommand = page.name.startsWith("commands-");
      entries.push({
        title: isCommand ? commandName(heading) : heading,
        page: isCommand ? "Command" : place,
        url: `${page.name}.html#${id}`,
        words,
      });
    }
    if (page.file === "errors.md") entries.push(...rowsOf(page.text, page.title, ERRORS));
  }
  for (const [url, aliases] of Object.entries(ALIASES)) entries.find((entry) => entry.url === url).aliases = aliases;
  return entries;
}

/** Returns the headings of a page with the words of their sections. */
export function sectionsOf(text) {
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
    else if (sections.length > 0 && !/^(```|- Guide: )/.test(line))
      sections.at(-1).words += `${plain(line.replaceAll("`service ", "`npx service-cli "))} `;
  }
  return sections.map(({ words, ...section }) => ({
    ...section,
    words: words
      .replaceAll(/\s+/g, " ")
      .replaceAll(/(?:· )+/g, "· ")
      .replaceAll(/^· | · $/g, "")
      .slice(0, MAX_WORDS),
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

/** Returns a group's name in the addresses of the API reference. */
export function referenceName(name) {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

/** A command is called by its name; what can be typed begins with `npx service-cli`. */
export function commandName(heading) {
  return heading.replace(/^service /, "");
}

/** Returns an anchor as GitHub makes it. */
export function idOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}

export function plain(text) {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*([^*]+)\*\*|(?<!\w)_([^_]+)_(?!\w)/g, "$1$2")
    .replaceAll(/`|(?<!\\)\||-{3,}/g, "")
    .replaceAll(/\\([*|])/g, "$1")
    .replace(/^- /, "")
    .replaceAll("&lt;", "<")
    .trim();
}

import { showTheme, theme } from "../theme.ts";

/**
 * What the guides do in a browser: copy code, and search guides, commands, API and errors. The guides can be read
 * without it.
 */

interface Entry {
  title: string;
  page: string;
  url: string;
  words: string;
}

const MAX_SHOWN = 12;
/** Characters of an excerpt before the found word, and altogether. */
const [BEFORE, EXCERPT] = [30, 110];
/** What a word contributes to the score of an entry, by where it is found: as a whole word, or as the start of one. */
const SCORES = { title: [12, 8], page: [4, 2], words: [1, 1] } as const;
/** The searched words are the title, or its start. */
const [EXACT, START] = [30, 15];
/** A flag is looked up in the reference of its command. */
const FLAG = 10;

showTheme(theme.value);
const search = document.querySelector<HTMLElement>("#search")!;
const input = search.querySelector("input")!;
const list = search.querySelector("ol")!;
const status = search.querySelector("p")!;
search.hidden = false;
for (const code of document.querySelectorAll("main pre:has(code[class])")) addCopyButton(code);

let loading: Promise<Entry[]> | undefined;
const load = (): Promise<Entry[]> =>
  (loading ??= fetch("search.json").then((response) => response.json() as Promise<Entry[]>));

input.addEventListener("focus", () => void load());
input.addEventListener("input", () => void show());
document.addEventListener("keydown", (event) => {
  const isTyping = (event.target as Element).closest("input, textarea, select") !== null;
  if (event.key === "Escape") clear();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
  if (event.key === "Enter" && event.target === input) list.querySelector("a")?.click();
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});

async function show(): Promise<void> {
  const typed = input.value.trim().toLowerCase();
  const found = typed === "" ? [] : find(await load(), typed.split(/\s+/));
  // Another letter may have been typed meanwhile.
  if (input.value.trim().toLowerCase() !== typed) return;
  list.replaceChildren(...found.slice(0, MAX_SHOWN).map((entry) => itemOf(entry, typed.split(/\s+/))));
  list.hidden = found.length === 0;
  status.textContent = typed === "" || found.length > 0 ? "" : "No matches";
}

/** Returns the entries that have all words, the best first. */
function find(entries: readonly Entry[], words: readonly string[]): Entry[] {
  const scored = entries.map((entry) => ({ entry, score: scoreOf(entry, words) }));
  const found = scored.filter(({ score }) => score > 0);
  return found.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}

function scoreOf(entry: Entry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = (["title", "page", "words"] as const).map((name): number => {
      const [whole, start] = SCORES[name];
      const at = positionOf(word, entry[name]);
      if (at < 0) return 0;
      return /^[\p{L}\p{N}]/u.test(entry[name].slice(at + word.length)) ? start : whole;
    });
    if (found.every((points) => points === 0)) return 0;
    score += found.reduce((sum, points) => sum + points, 0);
    if (word.startsWith("-") && isCommand(entry)) score += FLAG;
  }
  const [title, phrase] = [entry.title.toLowerCase(), words.join(" ")].map((text) => text.replace(/^service /, ""));
  return score + (title === phrase ? EXACT : 0) + (title!.startsWith(phrase!) ? START : 0);
}

/** Returns where a word of the text begins with these letters, or -1. */
function positionOf(word: string, text: string): number {
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{N}]$/u.test(lower.slice(0, at))) return at;
  }
  return -1;
}

function isCommand({ url }: Entry): boolean {
  return url.startsWith("commands-");
}

function itemOf({ title, page, url, words: text }: Entry, words: readonly string[]): HTMLElement {
  const link = document.createElement("a");
  link.href = url;
  link.append(element("strong", title), " ", element("span", page === title ? "" : page), excerptOf(text, words));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

/** Returns the text around the first of the words. */
function excerptOf(text: string, words: readonly string[]): HTMLElement {
  const word = words.find((each) => positionOf(each, text) >= 0) ?? "";
  const at = word === "" ? 0 : positionOf(word, text);
  const start = at <= BEFORE ? 0 : text.indexOf(" ", at - BEFORE) + 1;
  const end = text.length - start <= EXCERPT ? text.length : text.lastIndexOf(" ", start + EXCERPT);
  const excerpt = document.createElement("small");
  excerpt.append(
    `${start > 0 ? "… " : ""}${text.slice(start, at)}`,
    element("mark", text.slice(at, at + word.length)),
    text.slice(at + word.length, end),
    end < text.length ? " …" : "",
  );
  return excerpt;
}

function element(name: string, text: string): HTMLElement {
  const created = document.createElement(name);
  created.textContent = text;
  return created;
}

function addCopyButton(code: Element): void {
  const block = document.createElement("div");
  block.className = "block";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const show = (text: string) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  };
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(code.textContent ?? "").then(
      () => show("Copied"),
      () => show("Select and copy"),
    );
  });
  code.replaceWith(block);
  block.append(code, button);
}

/** Moves the focus between the input and the results. */
function move(event: KeyboardEvent): void {
  const stops = [input, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement as HTMLInputElement);
  const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (at === -1 || next === undefined) return;
  event.preventDefault();
  next.focus();
}

function clear(): void {
  input.value = "";
  void show();
}

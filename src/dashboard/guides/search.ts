import { nearest } from "../../contract/nearest.ts";

/** The search of the documentation: guides, commands, API and errors, on every page. */

interface Entry {
  title: string;
  page: string;
  url: string;
  words: string;
}

const MAX_SHOWN = 12;
/** Characters of an excerpt before the found word, and altogether. */
const [BEFORE, EXCERPT] = [30, 110];
/** What a word contributes to the score of an entry, by where it is found: whole, as a start, or with another ending. */
const SCORES = { title: [12, 8, 6], page: [4, 2, 1], words: [1, 1, 0.5] } as const;
const WORD = /[\p{L}\p{N}_]+/gu;
const ENDING = /(?<=....)(?:ions?|ing|e?d|e?s|e)$/;
/** Sections that mention a word often are about it. */
const MAX_COUNTED = 4;
/** The searched words are the title, or its start. */
const [EXACT, START] = [30, 15];
/** A flag is looked up in the reference of its command, a code in that of the errors, and a variable in their table. */
const REFERENCE = 10;

const search = document.querySelector<HTMLElement>("#search")!;
const input = search.querySelector("input")!;
const list = search.querySelector("ol")!;
const status = search.querySelector("p")!;
search.hidden = false;

/** The index is next to the guides, and names them by their files. */
const index = search.dataset["index"]!;
const folder = index.slice(0, index.lastIndexOf("/") + 1);
let loading: Promise<Entry[]> | undefined;
const load = (): Promise<Entry[]> => (loading ??= fetch(index).then((response) => response.json() as Promise<Entry[]>));

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
  const entries = typed === "" ? [] : await load();
  // Another letter may have been typed meanwhile.
  if (input.value.trim().toLowerCase() !== typed) return;
  let words = typed.split(/\s+/);
  let found = find(entries, words);
  let message = typed === "" || found.length > 0 ? "" : "No matches";
  if (message !== "") {
    words = corrected(words, entries);
    found = find(entries, words);
    if (found.length > 0) message = `No matches. Showing results for “${words.join(" ")}”`;
  }
  list.replaceChildren(...found.slice(0, MAX_SHOWN).map((entry) => itemOf(entry, words)));
  list.hidden = found.length === 0;
  status.textContent = message;
}

/** Returns the entries that have all words, the best first. */
function find(entries: readonly Entry[], words: readonly string[]): Entry[] {
  const scored = entries.map((entry) => ({ entry, score: scoreOf(entry, words) }));
  const found = scored.filter(({ score }) => score > 0);
  return found.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}

/** Replaces each word that no entry has with the one that was probably meant. Few people mistype the first letter. */
function corrected(words: readonly string[], entries: readonly Entry[]): string[] {
  const text = entries.map((entry) => `${entry.title} ${entry.words}`.toLowerCase()).join(" ");
  const known = [...new Set(text.match(WORD))];
  return words.map((word) => {
    const similar = known.filter((other) => other[0] === word[0]);
    return similar.includes(word) ? word : (nearest(word, similar)[0] ?? word);
  });
}

function scoreOf(entry: Entry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = (["title", "page", "words"] as const).map((name) => pointsOf(word, entry[name], SCORES[name]));
    if (found.every((points) => points === 0)) return 0;
    score += found.reduce((sum, points) => sum + points, 0);
    if (word.startsWith("-") && isCommand(entry)) score += REFERENCE;
    if (word.includes("_") && entry.url.startsWith("errors.")) score += REFERENCE;
    if (word.startsWith("service_") && entry.title === "Environment variables") score += REFERENCE;
  }
  const [title, phrase] = [entry.title.toLowerCase(), words.join(" ")].map((text) => text.replace(/^service /, ""));
  return score + (title === phrase ? EXACT : 0) + (title!.startsWith(phrase!) ? START : 0);
}

function pointsOf(word: string, text: string, [whole, start, ending]: readonly [number, number, number]): number {
  const positions = positionsOf(word, text);
  if (positions.length === 0) return withOtherEnding(word, text) === undefined ? 0 : ending;
  const isWhole = positions.some((at) => !/^[\p{L}\p{N}]/u.test(text.slice(at + word.length)));
  return (isWhole ? whole : start) + Math.min(positions.length, MAX_COUNTED) - 1;
}

/** Returns the word of the text that differs only in its ending, such as `rotate` for `rotation`. */
function withOtherEnding(word: string, text: string): string | undefined {
  const stem = stemOf(word);
  return text
    .toLowerCase()
    .match(WORD)
    ?.find((other) => other.startsWith(stem.slice(0, 3)) && stemOf(other) === stem);
}

function stemOf(word: string): string {
  return word.replace(/ies$/, "y").replace(ENDING, "");
}

/** Returns where words of the text begin with these letters. */
function positionsOf(word: string, text: string): number[] {
  const lower = text.toLowerCase();
  const positions = [];
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(lower[at - 1] ?? "")) positions.push(at);
  }
  return positions;
}

function isCommand({ url }: Entry): boolean {
  return url.startsWith("commands-");
}

function itemOf({ title, page, url, words: text }: Entry, words: readonly string[]): HTMLElement {
  const link = document.createElement("a");
  link.href = url.startsWith("/") ? url : folder + url;
  link.append(element("strong", title), " ", element("span", page === title ? "" : page), excerptOf(text, words));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

/** Returns the text around the first of the words. */
function excerptOf(text: string, words: readonly string[]): HTMLElement {
  const word =
    words.find((each) => positionsOf(each, text).length > 0) ??
    words.map((each) => withOtherEnding(each, text)).find((each) => each !== undefined) ??
    "";
  const [at = 0] = word === "" ? [] : positionsOf(word, text);
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

import { corrected, type Entry, find, hasMatch, positionsOf, withOtherEnding, wordsOf } from "./ranking.ts";

/** The search of the documentation: guides, commands, API and errors, on every page. */

const MAX_SHOWN = 12;
/** Characters of an excerpt before the found word, and altogether. */
const [BEFORE, EXCERPT] = [30, 110];
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
  let words = wordsOf(typed);
  let message = "";
  if (typed !== "" && !hasMatch(entries, words)) {
    const meant = corrected(words, entries);
    if (hasMatch(entries, meant)) {
      words = meant;
      message = `No matches. Showing results for “${words.join(" ")}”`;
    }
  }
  const found = find(entries, words);
  if (typed !== "" && found.length === 0) message = "No matches";
  list.replaceChildren(...found.slice(0, MAX_SHOWN).map((entry) => itemOf(entry, words)));
  list.hidden = found.length === 0;
  status.textContent = message;
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

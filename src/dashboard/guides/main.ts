import { showTheme, theme } from "../theme.ts";

/** What the guides do in a browser: one search over guides, commands, API and errors. They can be read without it. */

interface Entry {
  title: string;
  page: string;
  url: string;
  words: string;
}

const MAX_SHOWN = 12;

showTheme(theme.value);
const search = document.querySelector<HTMLElement>("#search")!;
const input = search.querySelector("input")!;
const list = search.querySelector("ol")!;
const status = search.querySelector("p")!;
search.hidden = false;

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
  list.replaceChildren(...found.slice(0, MAX_SHOWN).map(itemOf));
  list.hidden = found.length === 0;
  status.textContent = typed === "" || found.length > 0 ? "" : "No matches";
}

/** Returns the entries that have all words, those with a word in their title first. */
function find(entries: readonly Entry[], words: readonly string[]): Entry[] {
  const scored = entries.map((entry) => {
    const title = `${entry.title} ${entry.page}`.toLowerCase();
    const text = `${title} ${entry.words.toLowerCase()}`;
    const isFound = words.every((word) => text.includes(word));
    return { entry, score: isFound ? 1 + words.filter((word) => title.includes(word)).length : 0 };
  });
  const found = scored.filter(({ score }) => score > 0);
  return found.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}

function itemOf({ title, page, url }: Entry): HTMLElement {
  const link = document.createElement("a");
  link.href = url;
  const where = document.createElement("span");
  where.textContent = page;
  link.append(title, " ", where);
  const item = document.createElement("li");
  item.append(link);
  return item;
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

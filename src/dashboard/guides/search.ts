import { type Entry, positionsOf, results, withOtherEnding } from "./ranking.ts";

/** The search of the documentation: guides, commands, API and errors, on every page. */

const MAX_SHOWN = 12;
/** Pages that the page of a missing address lists. */
const MAX_SIMILAR = 5;
/** Characters of an excerpt before the found word, and altogether. */
const [BEFORE, EXCERPT] = [30, 110];
const search = document.querySelector<HTMLElement>("#search")!;
const input = search.querySelector("input")!;
const list = search.querySelector("ol")!;
const status = search.querySelector("p")!;
search.hidden = false;
const similar = document.querySelector<HTMLElement>("#similar");

/** The index is next to the guides, and names them by their files. */
const index = search.dataset["index"]!;
const folder = index.slice(0, index.lastIndexOf("/") + 1);
let loading: Promise<Entry[]> | undefined;
const load = (): Promise<Entry[]> => (loading ??= fetch(index).then((response) => response.json() as Promise<Entry[]>));

if (similar !== null) void suggest(similar);
input.addEventListener("focus", () => void load());
input.addEventListener("input", () => void show());
document.addEventListener("keydown", (event) => {
  const isTyping = (event.target as Element).closest("input, textarea, select") !== null;
  if (event.key === "Escape") {
    input.value = "";
    void show();
  }
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
  const { found, words, note } = results(entries, typed);
  list.replaceChildren(
    ...found.slice(0, MAX_SHOWN).map((entry) => itemOf(entry, words, excerptOf(entry.words, words))),
  );
  list.hidden = found.length === 0;
  const isMissing = typed !== "" && found.length === 0;
  status.replaceChildren(...(isMissing ? ["No matches. See ", ...STARTS.flatMap(startLink)] : [note]));
}

/** Pages to look at when nothing matches. */
const STARTS = [
  ["Troubleshooting", "troubleshooting.html"],
  ["Commands", "commands.html"],
  ["all guides", "index.html"],
] as const;

function startLink([label, page]: (typeof STARTS)[number], at: number): (string | HTMLElement)[] {
  const link = document.createElement("a");
  [link.href, link.textContent] = [folder + page, label];
  return [at === 0 ? "" : at === STARTS.length - 1 ? " or " : ", ", link];
}

function itemOf({ title, page, url }: Entry, words: readonly string[], ...further: HTMLElement[]): HTMLElement {
  const link = document.createElement("a");
  link.href = url.startsWith("/") ? url : folder + url;
  const kind = element("span", kindOf(url));
  kind.className = "kind";
  const place = page === title ? "" : page.replace(/^(?:API|Command|Errors)(?:: |$)/, "");
  link.append(element("strong", ...marked(title, words)), " ", kind, " ", element("span", place), ...further);
  const item = document.createElement("li");
  item.append(link);
  return item;
}

/** Returns what a result is, by its address. */
function kindOf(url: string): string {
  if (/^(?:\/docs|api|reference)\b/.test(url)) return "API";
  return url.startsWith("commands") ? "Command" : url.startsWith("errors.") ? "Error" : "Guide";
}

/** Returns the part of the text with the most of the words. */
function excerptOf(text: string, words: readonly string[]): HTMLElement {
  const places = placesOf(text, words);
  const countAt = (from: number) =>
    new Set(places.filter(({ at }) => at >= from && at < from + EXCERPT - BEFORE).map(({ word }) => word)).size;
  const [{ at } = { at: 0 }] = places.toSorted((a, b) => countAt(b.at) - countAt(a.at) || a.at - b.at);
  const start = at <= BEFORE ? 0 : text.indexOf(" ", at - BEFORE) + 1;
  const end = text.length - start <= EXCERPT ? text.length : text.lastIndexOf(" ", start + EXCERPT);
  const shown = text.slice(start, end).replaceAll(/^· | · ?$/g, "");
  return element("small", start > 0 ? "… " : "", ...marked(shown, words), end < text.length ? " …" : "");
}

/** Returns the text with the words marked. */
function marked(text: string, words: readonly string[]): (string | HTMLElement)[] {
  const parts: (string | HTMLElement)[] = [];
  let shown = 0;
  for (const { word, at } of placesOf(text, words)) {
    if (at < shown) continue;
    parts.push(text.slice(shown, at), element("mark", text.slice(at, at + word.length)));
    shown = at + word.length;
  }
  return [...parts, text.slice(shown)];
}

/** Returns where each word is in the text, in order: as it was typed, or with another ending. */
function placesOf(text: string, words: readonly string[]): { word: string; at: number }[] {
  return words
    .flatMap((typed) => {
      const word = positionsOf(typed, text).length > 0 ? typed : (withOtherEnding(typed, text) ?? "");
      return word === "" ? [] : positionsOf(word, text).map((at) => ({ word, at }));
    })
    .sort((a, b) => a.at - b.at || b.word.length - a.word.length);
}

function element(name: string, ...content: (string | HTMLElement)[]): HTMLElement {
  const created = document.createElement(name);
  created.append(...content);
  return created;
}

/** Lists pages whose names are similar to the missing address. */
async function suggest(place: HTMLElement): Promise<void> {
  const name = location.pathname.replace(/\/$/, "").split("/").at(-1)!;
  const typed = name.replace(/\.\w+$/, "").replaceAll(/(?<=[a-z])(?=[A-Z])|[\W_]+/g, " ");
  const { found, words } = results(await load(), typed.trim().toLowerCase());
  const named = found.filter(({ title }) => placesOf(title, words).length > 0).slice(0, MAX_SIMILAR);
  place.querySelector("ul")!.append(...named.map((entry) => itemOf(entry, words)));
  place.hidden = named.length === 0;
}

/** Moves the focus between the input and the results. */
function move(event: KeyboardEvent): void {
  const stops = [input, ...search.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement as HTMLInputElement);
  const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (at === -1 || next === undefined) return;
  event.preventDefault();
  next.focus();
}

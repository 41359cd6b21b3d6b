import { nearest } from "../../contract/nearest.ts";

/** What the search of the documentation finds, and in which order. */

export interface Entry {
  /** The heading of a section, or what the API has. */
  title: string;
  page: string;
  url: string;
  words: string;
  /** What else readers call it. */
  aliases?: string;
  /** Searches for which it comes first. */
  searches?: readonly string[];
}

/** What a word contributes to the score of an entry, by where it is found: whole, as a start, or with another ending. */
const SCORES = { title: [12, 8, 6], aliases: [12, 8, 6], page: [4, 2, 1], words: [1, 1, 0.5] } as const;
const FIELDS = Object.keys(SCORES) as (keyof typeof SCORES)[];
const WORD = /[\p{L}\p{N}_]+/gu;
const ENDING = /(?<=....)(?:ions?|ing|e?d|e?s|e)$/;
/** Sections that mention a word often are about it. */
const MAX_COUNTED = 4;
/** The searched words are the title, or its start. */
const [EXACT, START] = [30, 15];
/** The search is one of those of the entry. */
const PINNED = 100;
/** The definition of a term is wanted only by who asks what it is. */
const GLOSSARY = "Glossary";
/** A flag is looked up in the reference of its command, a path in that of the API, a code in that of the errors, and a variable in their table. */
const REFERENCE = 10;

/** Question words and connectives: they occur in every section, so they do not narrow a search. */
const QUESTION = new Set(
  "how what where when which can do does is are was there i to a an the my me your it of and or for on in with long many often".split(
    " ",
  ),
);
/** Verbs of a question: a section need not have them, but a command may be called so. */
const VERBS = new Set("get find see want need use".split(" "));
/** Words of a problem: a section need not have them, but those of this page come first. */
const PROBLEM = new Set("why not no never cannot can't doesn't don't isn't won't fails failed failing".split(" "));
const isOptional = (word: string): boolean => VERBS.has(word) || PROBLEM.has(word);
const PROBLEMS_PAGE = "Troubleshooting";
const PROBLEM_PAGE = 20;

/** Longer words may be mistyped in two places. */
const MAX_SHORT_WORD = 6;

export interface Results {
  found: Entry[];
  /** The words that were searched for. */
  words: string[];
  /** What differs from what was typed. */
  note: string;
}

/** Returns the entries that have all words, the best first; if there are none, those for what was probably meant. */
export function results(entries: readonly Entry[], typed: string): Results {
  const phrase = typed.toLowerCase().replace(/\?+$/, "").trim();
  const words = wordsOf(phrase);
  const found = find(entries, words, phrase);
  if (found.some((entry) => isPinned(entry, words, phrase)) || hasMatch(entries, words))
    return { found, words, note: "" };
  const meant = corrected(words, entries);
  if (hasMatch(entries, meant)) {
    const note = `No matches. Showing results for “${meant.join(" ")}”`;
    return { found: find(entries, meant), words: meant, note };
  }
  const partial = ranked(entries, (entry) => someOf(entry, words));
  return { found: partial, words, note: partial.length === 0 ? "" : "No section has all of these words" };
}

function wordsOf(phrase: string): string[] {
  const words = phrase.split(/\s+/);
  const telling = words.filter((word) => !QUESTION.has(word));
  return telling.length > 0 ? telling : words;
}

function hasMatch(entries: readonly Entry[], words: readonly string[]): boolean {
  return entries.some((entry) => scoreOf(entry, words) > 0);
}

/** Returns the entries that have all words, and after them those that have some in their title. */
export function find(entries: readonly Entry[], words: readonly string[], phrase = words.join(" ")): Entry[] {
  return ranked(
    entries,
    (entry) =>
      (isPinned(entry, words, phrase) ? PINNED : 0) +
      (scoreOf(entry, words) || someOf({ ...entry, page: "", words: "" }, words)),
  );
}

/** Returns whether an entry comes first for what was typed, or for what it asks about: `how do I get a webhook secret`. */
function isPinned({ searches = [] }: Entry, words: readonly string[], phrase: string): boolean {
  return searches.includes(phrase) || searches.includes(withoutVerbs(words));
}

function withoutVerbs(words: readonly string[]): string {
  return words.filter((word) => !VERBS.has(word)).join(" ");
}

function ranked(entries: readonly Entry[], scoreOfEntry: (entry: Entry) => number): Entry[] {
  const scored = entries.map((entry) => ({ entry, score: scoreOfEntry(entry) }));
  const found = scored.filter(({ score }) => score > 0);
  return found.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}

/** Scores are lower than this. */
const PARTIAL = 1000;

/** Returns the score of an entry that lacks some of the words. */
function someOf(entry: Entry, words: readonly string[]): number {
  const known = words.filter((word) => word.length > 3 && !isOptional(word) && scoreOf(entry, [word]) > 0);
  return known.length === 0 ? 0 : known.length - 1 + scoreOf(entry, known) / PARTIAL;
}

/** Replaces each word that no entry has with the one that was probably meant. Few people mistype the first letter. */
function corrected(words: readonly string[], entries: readonly Entry[]): string[] {
  const text = entries
    .map(({ title, words: all, aliases = "" }) => `${title} ${all} ${aliases}`)
    .join(" ")
    .toLowerCase();
  const known = [...new Set(text.match(WORD))];
  return words.map((word) => {
    const similar = known.filter((other) => other[0] === word[0]);
    const maxDistance = word.length > MAX_SHORT_WORD ? 2 : 1;
    return similar.includes(word) ? word : (nearest(word, similar, maxDistance)[0] ?? word);
  });
}

function scoreOf(entry: Entry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = FIELDS.map((name) => pointsOf(word, entry[name] ?? "", SCORES[name]));
    if (PROBLEM.has(word) && entry.page === PROBLEMS_PAGE) score += PROBLEM_PAGE;
    else if (!isOptional(word) && found.every((points) => points === 0)) return 0;
    score += found.reduce((sum, points) => sum + points, 0);
    if (word.startsWith("-") && entry.url.startsWith("commands-")) score += REFERENCE;
    if (word.includes("/") && entry.url.startsWith("/docs")) score += REFERENCE;
    if (word.includes("_") && entry.url.startsWith("errors.")) score += REFERENCE;
    if (word.startsWith("service_") && entry.title === "Environment variables") score += REFERENCE;
  }
  const [title, phrase] = [entry.title.toLowerCase(), withoutVerbs(words) || words.join(" ")].map((text) =>
    text.replace(/^(?:service|the|an?) /, ""),
  );
  // A word that begins an error code is rarely about this error.
  const isCode = phrase!.includes("_");
  if (title === phrase) score += EXACT;
  if (title!.startsWith(phrase!) && (isCode || !title!.includes("_"))) score += START;
  return entry.page === GLOSSARY ? score / PARTIAL : score;
}

function pointsOf(word: string, text: string, [whole, start, ending]: readonly [number, number, number]): number {
  const positions = positionsOf(word, text);
  if (positions.length === 0) return withOtherEnding(word, text) === undefined ? 0 : ending;
  const isWhole = positions.some((at) => !/^[\p{L}\p{N}]/u.test(text.slice(at + word.length)));
  return (isWhole ? whole : start) + Math.min(positions.length, MAX_COUNTED) - 1;
}

/** Returns the word of the text that differs only in its ending, such as `rotate` for `rotation`. */
export function withOtherEnding(word: string, text: string): string | undefined {
  const stem = stemOf(word);
  return text
    .toLowerCase()
    .match(WORD)
    ?.find((other) => other.startsWith(stem.slice(0, 3)) && stemOf(other) === stem);
}

function stemOf(word: string): string {
  return word.replace(/ie[sd]$/, "y").replace(ENDING, "");
}

/** Returns where words of the text begin with these letters. A number is not the start of another: 401 of 4010. */
export function positionsOf(word: string, text: string): number[] {
  const lower = text.toLowerCase();
  const positions = [];
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    const isNumber = /\d$/.test(word) && /\d/.test(lower[at + word.length] ?? "");
    if (!/[\p{L}\p{N}]/u.test(lower[at - 1] ?? "") && !isNumber) positions.push(at);
  }
  return positions;
}

import { readFileSync } from "node:fs";

/** A fenced block of a page. */
export interface Block {
  language: string;
  text: string;
}

/** The fenced blocks of a page under docs/, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({ language, text }));
}

/** The files that a page spells out, by the name in their first line: `// inbox.js`. */
export function filesOf(page: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const { text } of blocksOf(page)) {
    const [, name] = /^(?:\/\/|#) (\S+\.\w+)\n/.exec(text) ?? [];
    if (name !== undefined) files.set(name, text);
  }
  return files;
}

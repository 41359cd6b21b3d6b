import { readFileSync } from "node:fs";

/** A fenced code block of a page. */
export interface Block {
  language: string;
  text: string;
}

/** Returns the code blocks of a page in docs/, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({ language, text }));
}

/** Returns the files of a page by the name in their first line, such as `// inbox.js`. */
export function filesOf(page: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const { text } of blocksOf(page)) {
    const [, name] = /^(?:\/\/|#) (\S+\.\w+)\n/.exec(text) ?? [];
    if (name !== undefined) files.set(name, text);
  }
  return files;
}

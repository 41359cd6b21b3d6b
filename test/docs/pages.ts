import { readdirSync, readFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** A fenced code block of a page. */
export interface Block {
  language: string;
  /** What follows the language: `until stopped`, or what a reader needs to run it, such as `needs Docker`. */
  note: string;
  text: string;
}

/** The pages of the package, relative to docs/. */
export const PAGES = ["../README.md"].concat(
  readdirSync(new URL("../../docs", import.meta.url)).filter((name) => name.endsWith(".md")),
);

/** Returns the text of a page in docs/. */
export function textOf(page: string): string {
  return readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
}

/** Returns the code blocks of a page in docs/, in order. */
export function blocksOf(page: string): Block[] {
  // Its examples and outputs are those of a platform that another test has.
  const usual = page === "commands.md" ? "needs a platform" : "";
  return [...textOf(page).matchAll(/^```(\w+)(?: ([^\n]+))?\n(.*?)^```$/gms)].map(
    ([, language = "", note = usual, text = ""]) => ({ language, note, text }),
  );
}

/** Returns the name in the first line of a file, such as `// inbox.js`. */
export function nameIn(text: string): string | undefined {
  return /^(?:<\?php )?(?:\/\/|#) (\S+\.\w+)\n/.exec(text)?.[1];
}

/** Returns the files of a page by their names. */
export function filesOf(page: string): Map<string, string> {
  return new Map(
    blocksOf(page).flatMap(({ text }) => {
      const name = nameIn(text);
      return name === undefined ? [] : [[name, text] as const];
    }),
  );
}

/** Returns the packages that commands, or a package.json, install, except those that the tests do not have. */
export function packagesIn({ language, note, text }: Block): string[] {
  if (language === "json") return Object.keys((JSON.parse(text) as { dependencies?: object }).dependencies ?? {});
  if (language !== "sh" || note.startsWith("needs the package")) return [];
  return [...text.matchAll(/npm install ([^\n&#]+)/g)].flatMap(([, names]) =>
    names!
      .trim()
      .split(" ")
      .filter((name) => !name.startsWith("-"))
      .map((name) => (name === `../service-cli-${version}.tgz` ? "service-cli" : name)),
  );
}

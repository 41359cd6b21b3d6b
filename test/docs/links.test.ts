import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const markdownIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
const packaged = ["README.md", ...markdownIn("docs")];
const pages = [
  ...packaged,
  ...markdownIn("docs/contributors"),
  "CONTRIBUTING.md",
  "AGENTS.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "bench/RESULTS.md",
];

const read = (page: string): string => readFileSync(join(root, page), "utf8");

/** Returns the anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(pages)("%s links to existing headings", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
  const missing = links.filter(([, target, anchor]) => {
    const file = target === "" ? page : join(dirname(page), target!);
    return file.endsWith(".md") && !anchorsOf(file).includes(anchor!);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

it.each(pages)("%s has a language for each code block", (page) => {
  const fences = [...read(page).matchAll(/^ *```(.*)$/gm)].map(([, language]) => language);
  expect(fences.filter((language, i) => i % 2 === 0 && language === "")).toEqual([]);
});

it.each(pages)("%s links to existing pages", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)];
  const missing = links.map(([, target]) => target!).filter((target) => !existsSync(join(root, dirname(page), target)));
  expect(missing).toEqual([]);
});

describe("a file that a page mentions", () => {
  const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
  const isInRepository = (path: string): boolean =>
    tracked.some((file) => file === path || file.startsWith(`${path}/`));
  const isInPackage = (path: string): boolean =>
    /^(README\.md|CHANGELOG\.md|LICENSE|package\.json|(bin|dist|docs|deploy)(\/|$))/.test(path) &&
    !path.startsWith("docs/contributors");

  it.each(packaged)("is in the package, or the sentence in %s mentions the repository", (page) => {
    const missing = sentencesOf(page).filter((sentence) => {
      const links = [...sentence.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) =>
        join(dirname(page), path!),
      );
      const code = [...sentence.matchAll(/`([\w.-]+(?:\/[\w.-]+)*)`/g)].map(([, path]) => path!);
      const named = [...links, ...code.filter((path) => /[./]/.test(path))].filter(isInRepository);
      return named.some((path) => !isInPackage(path)) && !/\brepository\b/i.test(sentence);
    });
    expect(missing).toEqual([]);
  });

  it.each(packaged)("is in the package if %s links to it", (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) =>
      join(dirname(page), path!),
    );
    expect(targets.filter((path) => !isInPackage(path))).toEqual([]);
  });
});

/** Returns the sentences of a page, with its rows and list items. */
function sentencesOf(page: string): string[] {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, "");
  const paragraphs = prose.split(/\n\n|\n(?=\s*(?:- |\d+\. |\|))/);
  return paragraphs.flatMap((paragraph) => paragraph.replaceAll(/\s+/g, " ").split(/(?<=[.!?]\)?) (?=[A-Z`[])/));
}

it("docs/dev.md shows the defaults of the schema", () => {
  const [, block = ""] = /```yaml\n(# yaml-language-server.*?)```/s.exec(read("docs/dev.md")) ?? [];
  const shown = parse(block) as Record<string, unknown>;
  const schema = JSON.parse(read("docs/service.schema.json")) as Schema;
  expect(differencesFromDefaults(shown, schema, "")).toEqual([]);
});

interface Schema {
  default?: unknown;
  properties?: Record<string, Schema>;
}

/** Returns the keys whose value in an example is not their default. */
function differencesFromDefaults(shown: unknown, schema: Schema, key: string): string[] {
  if (schema.default !== undefined) return JSON.stringify(schema.default) === JSON.stringify(shown) ? [] : [key];
  if (schema.properties === undefined || typeof shown !== "object" || shown === null) return [];
  return Object.entries(shown).flatMap(([name, value]) =>
    differencesFromDefaults(value, schema.properties![name] ?? {}, key === "" ? name : `${key}.${name}`),
  );
}

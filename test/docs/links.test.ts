import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", "SECURITY.md", "bench/RESULTS.md"].concat(
  readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
);

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

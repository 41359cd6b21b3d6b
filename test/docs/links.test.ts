import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", "SECURITY.md", "bench/RESULTS.md"].concat(
  readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
);

it.each(pages)("%s links to existing pages", (page) => {
  const links = [...readFileSync(join(root, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)];
  const missing = links.map(([, target]) => target!).filter((target) => !existsSync(join(root, dirname(page), target)));
  expect(missing).toEqual([]);
});

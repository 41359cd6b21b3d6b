import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";

const folder = fileURLToPath(new URL("../../.github/workflows/", import.meta.url));
const { scripts } = JSON.parse(readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"));

it.each(readdirSync(folder))("%s runs only scripts that package.json has", (name) => {
  const text = readFileSync(folder + name, "utf8");
  expect(Object.keys(parse(text).jobs).length).toBeGreaterThan(0);
  for (const [, script] of text.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(script!);
});

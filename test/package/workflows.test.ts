import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";

const folder = fileURLToPath(new URL("../../.github/workflows/", import.meta.url));
const { scripts } = JSON.parse(readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"));

it.each(readdirSync(folder))("%s runs only scripts that package.json has", (name) => {
  const text = readFileSync(folder + name, "utf8");
  expect(Object.keys(parse(text).jobs).length).toBeGreaterThan(0);
  for (const [, script] of text.matchAll(/(?:npm run|script:) "?([\w:-]+)/g)) expect(scripts).toHaveProperty(script!);
});

it.each(readdirSync(folder))("%s pins its actions by commit", (name) => {
  const uses = [...readFileSync(folder + name, "utf8").matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
  expect(uses.filter((action) => !action.startsWith("./") && !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
});

it("release.yml gives no job that runs dependencies permission to write or sign", () => {
  const { permissions, jobs } = parse(readFileSync(`${folder}release.yml`, "utf8")) as {
    permissions: Record<string, string>;
    jobs: Record<string, { permissions?: Record<string, string>; steps?: { run?: string }[] }>;
  };
  expect(permissions).toEqual({ contents: "read" });
  const installing = Object.values(jobs).filter(({ steps = [] }) =>
    steps.some(({ run }) => /npm (ci|install|run)/.test(run ?? "")),
  );
  expect(installing.length).toBeGreaterThan(0);
  for (const job of installing) expect(job.permissions).toBeUndefined();
});

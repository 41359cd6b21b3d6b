import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const URL_OF_REPOSITORY = "https://git.example.com/acme/service";

it("scripts/set-repository.js sets the repository in package.json and in the action, and no page names a placeholder", () => {
  const copy = mkdtempSync(join(tmpdir(), "service-repository-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const name of ["README.md", "docs", "action.yml", "package.json", "scripts"])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  const setRepository = (argument: string) =>
    spawnSync(process.execPath, [join(copy, "scripts/set-repository.js"), argument], { encoding: "utf8" });

  const unset = setRepository("--check");
  expect([unset.status, unset.stderr]).toEqual([1, expect.stringMatching(/^package\.json, action\.yml: /)]);
  expect(setRepository(`${URL_OF_REPOSITORY}.git`).status).toBe(0);
  expect(setRepository("--check")).toMatchObject({ status: 0, stderr: "" });
  const read = (name: string) => readFileSync(join(copy, name), "utf8");
  expect(JSON.parse(read("package.json"))).toMatchObject({
    homepage: `${URL_OF_REPOSITORY}#readme`,
    bugs: { url: `${URL_OF_REPOSITORY}/issues` },
    repository: { url: `git+${URL_OF_REPOSITORY}.git` },
  });
  expect(read("action.yml")).toContain("uses: acme/service@v0.1.0\n");
});

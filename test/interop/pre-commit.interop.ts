import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startPlatform } from "../testing/kit.ts";
import { hasPip, pythonWith } from "./support/pip.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const env = hasPip ? pythonWith("pre-commit==4.6.2") : process.env;

it(".pre-commit-hooks.yaml names this version", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(readFileSync(join(root, ".pre-commit-hooks.yaml"), "utf8")).toContain(`service-cli@${version} `);
});

it.skipIf(!hasPip)("pre-commit rejects a commit with an API key, and accepts one without", async () => {
  const folder = mkdtempSync(join(tmpdir(), "service-pre-commit-"));
  const repository = (name: string) => {
    mkdirSync(join(folder, name));
    execFileSync("git", ["init", "--quiet"], { cwd: join(folder, name) });
    return join(folder, name);
  };
  const hooks = repository("hooks");
  cpSync(join(root, ".pre-commit-hooks.yaml"), join(hooks, ".pre-commit-hooks.yaml"));
  execFileSync("git", ["add", "."], { cwd: hooks });
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "Hooks"], {
    cwd: hooks,
  });
  const shop = repository("shop");
  writeFileSync(join(shop, "package.json"), "{}");
  writeFileSync(join(shop, ".gitignore"), "node_modules\n");
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel", "error", root], { cwd: shop });
  const commit = (text: string) => {
    writeFileSync(join(shop, "settings.js"), text);
    execFileSync("git", ["add", "."], { cwd: shop });
    const args = ["-m", "pre_commit", "try-repo", hooks, "service-keys-scan", "--verbose"];
    const { status, stdout } = spawnSync("python3", args, {
      cwd: shop,
      encoding: "utf8",
      env: { ...env, PRE_COMMIT_HOME: join(folder, "home") },
    });
    return { status, stdout };
  };
  const platform = await startPlatform();
  await platform.close();

  expect(commit("export const key = process.env.SERVICE_API_KEY;\n")).toMatchObject({ status: 0 });
  const rejected = commit(`export const key = "${platform.apiKey}";\n`);
  expect(rejected).toMatchObject({ status: 1, stdout: expect.stringContaining("settings.js:1") });
  expect(rejected.stdout).not.toContain(platform.apiKey);
  rmSync(folder, { recursive: true, force: true });
});

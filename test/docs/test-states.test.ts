import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { BIN, cliEnv } from "../support/run-cli.ts";
import { makeApplicationFolder } from "./application-folder.ts";
import { blocksOf, filesOf } from "./pages.ts";

const PAGE = "test-states.md";
const run = promisify(execFile);
const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));

let platform: ServedPlatform;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  platform = await servePlatform();
  folder = await makeApplicationFolder(filesOf(PAGE));
  for (const name of ["vitest", "vite"]) symlinkSync(join(packages, name), join(folder, "node_modules", name));
  symlinkSync(BIN, join(folder, "node_modules/.bin/service"));
  const path = `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`;
  env = cliEnv({ ...platform.env, PATH: path });
});
afterAll(() => platform.stop());

it("the tests of the page pass, those for Jest with the globals that it has", async () => {
  const vitest = join(packages, "vitest/vitest.mjs");
  const files = ["orders.test.js", "customers.test.js"];
  const args = [vitest, "run", "--globals", "--no-file-parallelism", "--root", folder, ...files];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env });
  expect(stdout).toMatch(/Tests .*4 passed/);
});

it("the commands of the page succeed", async () => {
  const script = blocksOf(PAGE).find(({ language }) => language === "sh");
  const { stdout } = await run("bash", ["-e", "-c", script!.text], { cwd: folder, env });
  expect(stdout).toMatch(/^ada\t1\t/m);
});

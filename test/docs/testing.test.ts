import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { cliEnv } from "../support/run-cli.ts";
import { makeApplicationFolder } from "./application-folder.ts";
import { blocksOf, filesOf } from "./pages.ts";

const PAGE = "testing.md";
const run = promisify(execFile);
const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await makeApplicationFolder(filesOf(PAGE));
  for (const name of ["vitest", "vite"]) symlinkSync(join(packages, name), join(folder, "node_modules", name));
});

it("the example runs", async () => {
  const first = blocksOf(PAGE).find(({ language }) => language === "js");
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", first!.text], {
    cwd: folder,
    env: cliEnv(),
  });
  expect(stdout).toBe("completed\n");
});

// test/interop runs the file for Jest with Jest.
it("the tests for Vitest pass, those for Jest with the globals that it has", async () => {
  const vitest = join(packages, "vitest/vitest.mjs");
  const args = [vitest, "run", "--globals", "--root", folder, "--dir", folder, "receiver.test.js", "client.test.cjs"];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env: cliEnv() });
  expect(stdout).toMatch(/Tests .*2 passed/);
});

it("the tests for node:test pass", async () => {
  const { stdout } = await run(process.execPath, ["--test", "retries.test.js"], { cwd: folder, env: cliEnv() });
  expect(stdout).toMatch(/pass 1\b/);
});

import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeApplicationFolder } from "../docs/application-folder.ts";
import { filesOf } from "../docs/pages.ts";
import { cliEnv } from "../support/run-cli.ts";
import { installPackages } from "./support/packages.ts";

it("Jest runs the tests in docs/testing.md", async () => {
  const tools = await installPackages("jest@30.2.0");
  const folder = await makeApplicationFolder("testing.md", filesOf("testing.md"));
  const jest = join(tools, "node_modules/jest/bin/jest.js");
  const args = [jest, "--rootDir", folder, "--testMatch", "**/client.test.cjs"];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env: cliEnv() });
  expect(stderr).toMatch(/Tests: +1 passed, 1 total/);
  rmSync(folder, { recursive: true });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { installPackages } from "./support/packages.ts";

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const { HOME, PATH, CHROMIUM } = process.env;

it.each([22, 24])("the whole suite passes on Node %d", async (version) => {
  const folder = await installPackages(`node@${version}`);
  const node = join(folder, "node_modules/node/bin/node");
  const env = { HOME, CHROMIUM, PATH: `${dirname(node)}${delimiter}${PATH}` };
  const run = spawn(node, [VITEST, "run"], { env });
  const [report, errors, [code]] = await Promise.all([text(run.stdout), text(run.stderr), once(run, "exit")]);
  process.stdout.write(`Node ${version}: ${report.trimEnd().split("\n").at(-1)}\n`);
  expect(code, `${report}\n${errors}`).toBe(0);
});

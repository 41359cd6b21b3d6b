import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BIN } from "../support/run-cli.ts";
import { recordVersion } from "./support/tool-version.ts";

const hasFish = spawnSync("fish", ["--version"]).status === 0;
let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "service-shells-"));
  mkdirSync(join(home, "bin"));
  for (const name of ["service", "service-cli"]) {
    writeFileSync(join(home, "bin", name), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
    chmodSync(join(home, "bin", name), 0o755);
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Returns fish's completions of a command line after it sources the script. */
function offeredByFish(line: string): string[] {
  const program = `service completion fish | source; complete --do-complete ${JSON.stringify(line)}`;
  const env = { HOME: home, PATH: `${join(home, "bin")}${delimiter}${process.env["PATH"]}` };
  const printed = execFileSync("fish", ["--no-config", "--command", program], { cwd: home, env, encoding: "utf8" });
  return printed.split("\n").flatMap((text) => text.split("\t")[0] || []);
}

describe.skipIf(!hasFish)("completion in fish", () => {
  recordVersion(hasFish ? "fish" : undefined, "--version");

  it.each([
    ["service custo", ["customers"]],
    ["service-cli custo", ["customers"]],
    ["service customers l", ["list"]],
    ["service trigger order.c", ["order.created", "order.completed", "order.canceled"]],
    ["service orders list --status=pen", ["--status=pending"]],
    ["service keys create --scope request_logs:r", ["request_logs:read"]],
    ["service webhooks verify --payload bi", ["bin/"]],
  ])("offers for %j what the program suggests: %j", (line, offered) => {
    expect(offeredByFish(line)).toEqual(offered);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { BIN, cliEnv, createConfigDir, runCli } from "../support/run-cli.ts";
import { blocksOf } from "./pages.ts";

/** Commands that need a browser, another file or a receiver, or that run until they are stopped. */
const NOT_RUN = /^service (login( --device)?$|serve|db|listen|webhooks)|^service-cli/;
const commandsOf = (page: string): string[] =>
  blocksOf(page)
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.trimEnd().split("\n"));

let platform: ServedPlatform;
const folder = mkdtempSync(join(tmpdir(), "service-guides-"));
beforeAll(async () => {
  platform = await servePlatform();
  mkdirSync(join(folder, "bin"));
  symlinkSync(BIN, join(folder, "bin/service"));
  writeFileSync(join(folder, "key.txt"), platform.sandboxKey);
});
afterAll(() => platform.stop());

describe.each(["authentication.md", "mcp.md", "troubleshooting.md"])("docs/%s", (page) => {
  it("has commands that succeed", async () => {
    const env = cliEnv({
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      SERVICE_BASE_URL: platform.baseUrl,
      SERVICE_CONFIG_DIR: createConfigDir(),
      XDG_DATA_HOME: folder,
    });
    const script = [
      "service login --api-key-stdin < key.txt",
      ...commandsOf(page).filter((line) => !NOT_RUN.test(line)),
    ];
    const child = spawn("bash", ["-e", "-x", "-c", script.join("\n")], { cwd: folder, env });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect(exitCode, output).toBe(0);
  });

  it("has flags that exist", async () => {
    const { stdout: globals } = await runCli(["--help"]);
    for (const line of commandsOf(page).filter((command) => NOT_RUN.test(command))) {
      const [, message = ""] = /^service(?:-cli)? ?((?:[a-z]+ ?)*)/.exec(line)!;
      const { stdout: help } = await runCli([...message.trim().split(" ").filter(Boolean), "--help"]);
      for (const [flag] of line.matchAll(/--[a-z-]+/g)) expect(help + globals, line).toContain(flag);
    }
  });
});

it("docs/mcp.md names the tools and prompts that the server has", async () => {
  const client = new Client({ name: "test", version: "1" });
  const env = cliEnv({ SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: platform.sandboxKey });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BIN, "mcp"], env }));
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  await client.close();
  const text = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  const documented = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  expect(new Set(documented)).toEqual(new Set([...tools, ...prompts].map(({ name }) => name)));
});

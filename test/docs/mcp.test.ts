import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { BIN, cliEnv, runCli } from "../support/run-cli.ts";
import { textOf } from "./pages.ts";

let platform: ServedPlatform;
beforeAll(async () => {
  platform = await servePlatform();
});
afterAll(() => platform.stop());

it("docs/mcp.md lists the server's tools and prompts", async () => {
  const client = new Client({ name: "test", version: "1" });
  const env = cliEnv({ SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: platform.sandboxKey });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BIN, "mcp"], env }));
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  await client.close();
  const rows = textOf("mcp.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const documented = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  expect(new Set(documented)).toEqual(new Set([...tools, ...prompts].map(({ name }) => name)));
});

it("docs/mcp.md lists the tool groups", async () => {
  const [, documented] = /Groups are ([^]*?)\.\n/.exec(textOf("mcp.md"))!;
  const groups = [...documented!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  const env = { SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: platform.sandboxKey };
  const { stderr } = await runCli(["mcp", "--tools", "nonexistent"], { env });
  expect(/Groups: (.*?)\./.exec(stderr)![1]!.split(", ").toSorted()).toEqual(groups.toSorted());
});

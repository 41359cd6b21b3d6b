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
  expect(namesIn("Tools", 2)).toEqual(tools.map(({ name }) => name).toSorted());
  expect(namesIn("Resources and prompts", 1)).toEqual(prompts.map(({ name }) => name).toSorted());
});

it("docs/mcp.md lists the tool groups", async () => {
  const env = { SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: platform.sandboxKey };
  const { stderr } = await runCli(["mcp", "--tools", "nonexistent"], { env });
  expect(/Groups: (.*?)\./.exec(stderr)![1]!.split(", ").toSorted()).toEqual(namesIn("Tools", 1));
});

/** Returns the names in a column of a section's table. */
function namesIn(section: string, column: number): string[] {
  const [, text = ""] = textOf("mcp.md").split(`\n## ${section}\n`);
  const rows = text
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => [...row.split("|")[column]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)).toSorted();
}

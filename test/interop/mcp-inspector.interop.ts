import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { BIN, cliEnv } from "../support/run-cli.ts";
import { installPackages } from "./support/packages.ts";

let platform: ServedPlatform;
let inspector: string;

beforeAll(async () => {
  const folder = await installPackages("@modelcontextprotocol/inspector@0.22.0");
  inspector = join(folder, "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js");
  platform = await servePlatform();
});
afterAll(() => platform.stop());

/** How the inspector reaches a server. */
const SERVERS = {
  stdio: () => {
    const env = ["-e", `SERVICE_API_KEY=${platform.sandboxKey}`, "-e", `SERVICE_BASE_URL=${platform.baseUrl}`];
    return [...env, process.execPath, BIN, "mcp"];
  },
  http: () => {
    const header = `Authorization: Bearer ${platform.sandboxKey}`;
    return [`${platform.baseUrl}/mcp`, "--transport", "http", "--header", header];
  },
};

describe.each(["stdio", "http"] as const)("the official inspector over %s", (transport) => {
  async function inspect(...args: string[]): Promise<Record<string, unknown>> {
    const command = [inspector, "--cli", ...SERVERS[transport](), ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: cliEnv(), maxBuffer: 2 ** 24 });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it("lists tools, resources and prompts", async () => {
    const { tools } = await inspect("--method", "tools/list");
    expect(tools).toContainEqual(expect.objectContaining({ name: "wait_for_event" }));
    const { resources } = await inspect("--method", "resources/list");
    expect(resources).toContainEqual(expect.objectContaining({ uri: "service://docs/mcp" }));
    const { prompts } = await inspect("--method", "prompts/list");
    expect(prompts).toHaveLength(2);
  });

  it("calls a tool, and reads a resource and a prompt", async () => {
    const call = ["--tool-name", "create_order", "--tool-arg", "amount=5", "--tool-arg", "currency=EUR"];
    expect(await inspect("--method", "tools/call", ...call)).toMatchObject({
      structuredContent: { object: "order", amount: 5 },
    });
    expect(await inspect("--method", "resources/read", "--uri", "service://docs/mcp")).toMatchObject({
      contents: [{ mimeType: "text/markdown", text: expect.stringMatching(/^# MCP/) }],
    });
    expect(await inspect("--method", "prompts/get", "--prompt-name", "debug_failing_endpoint")).toMatchObject({
      messages: [{ role: "user" }],
    });
  });
});

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { obtainTokens } from "./oauth/support/authorization-server.ts";
import { ourServer } from "./oauth/support/our-server.ts";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { it, startChromium } from "../support/chromium.ts";

const on = apiOnPlatform();
let chromium: Browser;
let app: Server;
/** The origin of the page, which is not the platform's. */
let origin: string;

const PROGRAM = `
  import { Client } from "@modelcontextprotocol/sdk/client/index.js";
  import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
  async function useTools() {
    const client = new Client({ name: "page", version: "1" });
    const requestInit = { headers: { Authorization: "Bearer " + TOKEN } };
    await client.connect(new StreamableHTTPClientTransport(new URL(MCP), { requestInit }));
    const { tools } = await client.listTools();
    const call = { name: "create_customer", arguments: { email: "page@example.com" } };
    const { structuredContent: created } = await client.callTool(call);
    return { server: client.getServerVersion().name, tools: tools.map(({ name }) => name), created };
  }
  const report = (result) => { document.body.dataset.result = JSON.stringify(result); };
  useTools().then(report, (error) => report({ error: String(error) }));
`;

beforeAll(async () => {
  const { baseUrl, ready, sandboxKey } = on.platform;
  const server = await ourServer({ baseUrl, sandboxKey, signInUrl: ready.sign_in_url!, advance: () => {} });
  const tokens = await obtainTokens(server, "public");
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "js" },
    define: { MCP: JSON.stringify(`${baseUrl}/mcp`), TOKEN: JSON.stringify(tokens.access_token) },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  app = createServer((request, response) => {
    const isScript = request.url === "/app.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? outputFiles[0]!.text : '<!doctype html><body><script type="module" src="/app.js"></script>',
    );
  });
  await once(app.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  chromium = await startChromium();
});
afterAll(async () => {
  await chromium.close();
  app.close();
});

it("the MCP SDK's client on a page of another origin lists and calls tools with an access token", async () => {
  const page = await (await chromium.newContext()).newPage();
  await page.goto(origin);
  const body = page.locator("body[data-result]");
  await body.waitFor({ state: "attached" });
  const result = JSON.parse((await body.getAttribute("data-result"))!) as Record<string, unknown>;
  expect(result).toMatchObject({
    server: "service",
    tools: expect.arrayContaining(["create_customer", "get_customer"]),
    created: { object: "customer", email: "page@example.com" },
  });
  // The token's scopes are those of customers.
  expect(result["tools"]).not.toContain("create_order");
  const { data } = (await on.api("GET", "/v1/customers?email=page@example.com")).body;
  expect(data).toEqual([expect.objectContaining({ id: (result["created"] as { id: string }).id })]);
});

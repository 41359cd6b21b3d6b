import { randomUUID } from "node:crypto";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { createClient } from "../../client/http.ts";
import type { McpExchange } from "../../platform/index.ts";
import { UsageError } from "../errors.ts";
import { chooseTools, createMcpServer } from "./server.ts";

/**
 * Responds to one POST of MCP over HTTP without sessions: each request gets its own MCP server, so that any process
 * behind a load balancer can respond. Import this module lazily: the protocol is large.
 */
export async function serveMcp(exchange: McpExchange): Promise<void> {
  const { request, response, body, credential, caller, baseUrl, version, agent, signal } = exchange;
  const client = createClient({
    // Its host is never looked up: the agent opens the connections.
    baseUrl: new URL("http://localhost"),
    agent,
    credential,
    userAgent: `service-mcp/${version}`,
    signal,
    random: Math.random,
    uuid: randomUUID,
  });
  const { id, name } = caller.tenant.account;
  const query = new URLSearchParams(/\?.*/s.exec(request.url ?? "")?.[0]);
  let server: Server;
  try {
    server = createMcpServer({
      tools: chooseTools(query.get("tools") ?? undefined),
      outputSchemas: query.get("output_schemas") === "true",
      version,
      instructions: `The sandbox of account ${name} (${id}) at ${baseUrl}.`,
      client,
      scopes: caller.scopes,
      now: Date.now,
      uuid: randomUUID,
      // The shell of the client is unknown.
      runnable: (text) => text,
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const problem = { code: ErrorCode.InvalidParams, message: `${error.message}. ${error.hint}` };
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", error: problem, id: null }));
    return;
  }
  const transport = new StreamableHTTPServerTransport();
  response.once("close", () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, body);
}

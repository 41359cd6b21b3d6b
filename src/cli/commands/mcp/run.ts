import { setMaxListeners } from "node:events";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool as ListedTool,
} from "@modelcontextprotocol/sdk/types.js";
import { Writable } from "node:stream";
import { ApiError } from "../../../client/errors.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { failureOf } from "../../failure.ts";
import type { Tool, ToolSession } from "./tool.ts";
import { CLOCK_TOOLS, CUSTOMER_TOOLS, DELIVERY_TOOLS, EVENT_TOOLS, ORDER_TOOLS } from "./tools/api.ts";
import { EXPLAIN_TOOLS } from "./tools/explain.ts";
import { RECEIVER_TOOLS } from "./tools/receiver.ts";
import { TRIGGER_TOOLS } from "./tools/trigger.ts";

/** Maximum duration of a stop. */
const MAX_SETTLE_MILLISECONDS = 10_000;

const TOOLS: readonly Tool[] = [
  ...CUSTOMER_TOOLS,
  ...ORDER_TOOLS,
  ...TRIGGER_TOOLS,
  ...EVENT_TOOLS,
  ...DELIVERY_TOOLS,
  ...EXPLAIN_TOOLS,
  ...RECEIVER_TOOLS,
  ...CLOCK_TOOLS,
];

/** Serves until the client closes stdin, or a signal ends it. Import this module lazily: the protocol is large. */
export async function runMcp(context: Context): Promise<void> {
  const client = await context.client();
  const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
  if (identity.livemode)
    throw new UsageError("MCP tools are available in the sandbox only", { hint: "Use a sandbox credential." });
  const tools = TOOLS.filter(({ scopes }) =>
    scopes.every((one) => one.some((scope) => identity.scopes.includes(scope))),
  );

  const server = new Server(
    { name: "service", version: context.version },
    {
      capabilities: { tools: {} },
      instructions: `The sandbox of account ${identity.account.name} (${identity.account.id}) at ${client.baseUrl.origin}.`,
    },
  );
  const calls = new Set<Promise<CallToolResult>>();
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(describeTool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool ${params.name}`);
    const progressToken = params._meta?.progressToken;
    const progress: ToolSession["progress"] = (done, total, message) => {
      // The result itself says that the work is done.
      if (progressToken === undefined || done === total) return;
      const params = { progressToken, progress: done, total, message };
      // A disconnected client ends the whole server.
      sendNotification({ method: "notifications/progress", params }).catch(() => {});
    };
    const running = call(tool, params.arguments ?? {}, { client, context, progress });
    calls.add(running);
    return await running.finally(() => calls.delete(running));
  });

  // Each call in flight adds a listener for the end.
  setMaxListeners(0, context.signal);
  const ended = endOf(context);
  await server.connect(new StdioServerTransport(context.stdin, protocolStream(context)));
  await ended;
  await settleCalls(calls, context);
  await server.close();
}

/** Waits for the responses of calls in flight: their changes are permanent, so the client should know of them. */
async function settleCalls(calls: ReadonlySet<Promise<unknown>>, { signal }: Context): Promise<void> {
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(MAX_SETTLE_MILLISECONDS)]);
  if (calls.size === 0 || timeout.aborted) return;
  await Promise.race([Promise.all(calls), new Promise((resolve) => timeout.addEventListener("abort", resolve))]);
  // The protocol sends a response a few turns after its call has settled.
  await new Promise(setImmediate);
}

async function call(tool: Tool, input: Record<string, unknown>, session: ToolSession): Promise<CallToolResult> {
  try {
    const result = await tool.run(input, session);
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    const { message, details, hint } = failureOf(error);
    const text = [message, ...details, ...(hint === undefined ? [] : [hint])].join("\n");
    return {
      isError: true,
      content: [{ type: "text", text }],
      ...(error instanceof ApiError ? { structuredContent: { ...error.problem } } : {}),
    };
  }
}

/** Resolves once no more requests can arrive: stdin has ended, or the process gets a signal. */
function endOf({ stdin, signal }: Context): Promise<void> {
  return new Promise((resolve) => {
    stdin.once("end", () => resolve());
    stdin.once("close", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** stdout is only for messages of the protocol. */
function protocolStream({ stdout }: Context): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      stdout.write(chunk);
      done();
    },
  });
}

/** Formats of JSON Schema that every validator knows. The platform checks the contract's own. */
const COMMON_FORMATS: ReadonlySet<unknown> = new Set(["email", "uri", "date-time"]);

/** A tool as `tools/list` shows it. */
export function describeTool({ name, description, effect, input }: Tool): ListedTool {
  return {
    name,
    description,
    inputSchema: plainSchema(input) as ListedTool["inputSchema"],
    annotations: { readOnlyHint: effect === "reads", destructiveHint: effect === "removes", openWorldHint: false },
  };
}

/** Returns JSON Schema without what is specific to the contract. */
function plainSchema(schema: object): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      const isForeign = key === "$id" || (key === "format" && typeof value === "string" && !COMMON_FORMATS.has(value));
      return isForeign ? undefined : value;
    }),
  );
}

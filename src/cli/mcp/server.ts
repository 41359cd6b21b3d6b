import { readdirSync, readFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  type GetPromptResult,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  type Prompt,
  ReadResourceRequestSchema,
  type Tool as ListedTool,
} from "@modelcontextprotocol/sdk/types.js";
import { apiPath } from "../../client/base-url.ts";
import { ApiError } from "../../client/errors.ts";
import type { Client } from "../../client/http.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Scope } from "../../contract/scopes.ts";
import { UsageError } from "../errors.ts";
import { failureOf } from "../failure.ts";
import { API_TOOLS, type Tool, type ToolSession } from "./tool.ts";
import { COMPOSED_TOOLS } from "./tools/composed.ts";

const TOOLS: readonly Tool[] = [...API_TOOLS, ...COMPOSED_TOOLS];

/** What a server needs from its transport. */
interface Served extends Pick<ToolSession, "client" | "now" | "uuid" | "runnable"> {
  version: string;
  /** The tools that the client chose. */
  tools: readonly Tool[];
  /** True if the list is to contain the schemas of results, which are most of it. */
  outputSchemas?: boolean | undefined;
  /** Names the account and the platform. */
  instructions: string;
  scopes: readonly string[];
  onCall?: (running: Promise<CallToolResult>) => void;
}

/** Returns an unconnected server with resources, prompts and the given tools that the scopes allow. */
export function createMcpServer(served: Served): Server {
  const { client, scopes, version, tools, instructions, now, uuid, runnable, outputSchemas = false } = served;
  const server = new Server(
    { name: "service", version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions },
  );

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools
      .filter((tool) => missingScopes(tool, scopes).length === 0)
      .map((tool) => describeTool(tool, outputSchemas)),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool ${params.name}`);
    const missing = missingScopes(tool, scopes);
    if (missing.length > 0)
      return failed(`${tool.name} requires ${missing.join(" and ")}, which the credential lacks.`);
    const progressToken = params._meta?.progressToken;
    const progress: ToolSession["progress"] = (done, total, message) => {
      // The result itself says that the work is done.
      if (progressToken === undefined || done === total) return;
      const notification = { progressToken, progress: done, total, message };
      // A disconnected client ends the whole server.
      sendNotification({ method: "notifications/progress", params: notification }).catch(() => {});
    };
    const running = call(tool, params.arguments ?? {}, { client, signal, progress, now, uuid, runnable });
    served.onCall?.(running);
    return await running;
  });

  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: listGuides() }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [EVENT_TEMPLATE] }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const found = await asProtocolError(() => readResource(uri, client));
    if (found === undefined) throw new McpError(RESOURCE_NOT_FOUND, `Resource not found: ${uri.slice(0, 200)}`);
    return { contents: [found] };
  });

  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = getPrompt(params.name, params.arguments ?? {});
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown prompt ${params.name}`);
    return prompt;
  });
  return server;
}

/** The protocol's own code, which the SDK does not name. */
const RESOURCE_NOT_FOUND = -32002;

/**
 * Returns the tools with the names, or of the groups, in a list such as `customers,explain` (default: all), also of those
 * that only one transport offers. A client passes all that is listed to its model. Throws UsageError for an unknown name.
 */
export function chooseTools(choice: string | undefined, furtherTools: readonly Tool[] = []): readonly Tool[] {
  const tools = [...TOOLS, ...furtherTools];
  if (choice === undefined) return tools;
  const isNamed = ({ name, group }: Tool, wanted: string) => wanted === name || wanted === group;
  const names = choice.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !tools.some((tool) => isNamed(tool, name)));
  if (unknown === undefined) return tools.filter((tool) => names.some((name) => isNamed(tool, name)));
  const groups = [...new Set(tools.map(({ group }) => group))].join(", ");
  throw new UsageError(`Unknown tool or group of tools "${unknown.slice(0, 100)}"`, {
    hint: `Groups: ${groups}. You can also name single tools, such as get_order.`,
  });
}

/** Returns a phrase that names the scopes that a tool needs and the credential lacks. */
function missingScopes(tool: Tool, scopes: readonly string[]): string[] {
  return tool.scopes
    .filter((either) => !either.some((scope: Scope) => scopes.includes(scope)))
    .map((either) => `the scope ${either.join(" or ")}`);
}

async function call(tool: Tool, input: Record<string, unknown>, session: ToolSession): Promise<CallToolResult> {
  try {
    const result = await tool.run(input, session);
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    // Structured content would have to match the schema of the tool's results.
    const problem = error instanceof ApiError ? { _meta: { problem: error.problem } } : {};
    return { ...failed(session.runnable(wordsOf(error))), ...problem };
  }
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}

function wordsOf(error: unknown): string {
  const { message, details, hint } = failureOf(error);
  return [message, ...details, ...(hint === undefined ? [] : [hint])].join("\n");
}

async function asProtocolError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404;
    throw new McpError(isMissing ? RESOURCE_NOT_FOUND : ErrorCode.InternalError, wordsOf(error));
  }
}

/** Formats of JSON Schema that every validator knows. The platform checks the contract's own. */
const COMMON_FORMATS: ReadonlySet<unknown> = new Set(["date", "date-time", "email", "uri"]);

/** A tool in the format of `tools/list`. */
function describeTool(tool: Tool, withOutput: boolean): ListedTool {
  const { name, description, effect, idempotent = false, input, output } = tool;
  return {
    name,
    description,
    inputSchema: plainSchema(input) as ListedTool["inputSchema"],
    ...(withOutput && { outputSchema: plainSchema(output, ["examples"]) as NonNullable<ListedTool["outputSchema"]> }),
    annotations: {
      readOnlyHint: effect === "reads",
      destructiveHint: effect === "removes",
      idempotentHint: idempotent || effect === "reads",
      openWorldHint: false,
    },
  };
}

/** Returns a JSON Schema without the contract's own keywords and formats. */
function plainSchema(schema: object, omitted: readonly string[] = []): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      const isForeign =
        key === "$id" ||
        omitted.includes(key) ||
        key.startsWith("x-") ||
        (key === "format" && typeof value === "string" && !COMMON_FORMATS.has(value));
      return isForeign ? undefined : value;
    }),
  );
}

/** The guides of the package. Only bundled code knows its own folder. */
const GUIDES = new URL("../../docs/", import.meta.url);
const GUIDE_PREFIX = "service://docs/";
const EVENT_PREFIX = "service://events/";

/** An event by its ID, as clients list it. */
const EVENT_TEMPLATE = {
  uriTemplate: `${EVENT_PREFIX}{id}`,
  name: "event",
  description: "An event: the exact JSON that was delivered. Requires the scope events:read.",
  mimeType: "application/json",
};

interface Guide {
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

/** Returns the guides that the package contains. */
function listGuides(): Guide[] {
  const pages = readdirSync(GUIDES).filter((file) => file.endsWith(".md"));
  return pages.sort().map((file) => {
    const name = file.slice(0, -".md".length);
    const [, title = name] = /^# (.+)$/m.exec(readGuide(name)) ?? [];
    return { uri: GUIDE_PREFIX + name, name, title, mimeType: "text/markdown" };
  });
}

/** Returns a guide, or an event as the API returns it; undefined for another URI. Rejects with ApiError. */
async function readResource(
  uri: string,
  client: Client,
): Promise<{ uri: string; mimeType: string; text: string } | undefined> {
  if (uri.startsWith(EVENT_PREFIX)) {
    const path = apiPath`/v1/events/${uri.slice(EVENT_PREFIX.length)}`;
    const { body } = await client.request<object>({ method: "GET", path });
    return { uri, mimeType: EVENT_TEMPLATE.mimeType, text: JSON.stringify(body) };
  }
  const guide = listGuides().find((listed) => listed.uri === uri);
  return guide && { uri, mimeType: guide.mimeType, text: readGuide(guide.name) };
}

function readGuide(name: string): string {
  return readFileSync(new URL(`${name}.md`, GUIDES), "utf8");
}

/** Tasks that users start from their client. */
const PROMPTS: readonly Prompt[] = [
  {
    name: "add_webhook_receiver",
    description: "Add a webhook receiver to an application, and test it with real deliveries",
    arguments: [
      { name: "events", description: "Event types to receive, separated by commas (default: order.completed)" },
      { name: "framework", description: "Framework of the application (default: the one it uses)" },
      { name: "url", description: "URL of the receiver (default: an address of this machine)" },
    ],
  },
  {
    name: "debug_failing_endpoint",
    description: "Find out why deliveries to a webhook endpoint fail, fix the cause and retry them",
    arguments: [{ name: "endpoint", description: "ID of the endpoint, we_… (default: the failing one)" }],
  },
];

/** Returns the messages of a prompt; undefined for an unknown name. */
function getPrompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult | undefined {
  const prompt = PROMPTS.find((known) => known.name === name);
  if (prompt === undefined) return undefined;
  const text = name === "add_webhook_receiver" ? addReceiver(given) : debugEndpoint(given);
  return { description: prompt.description!, messages: [{ role: "user", content: { type: "text", text } }] };
}

function addReceiver({ events = "order.completed", framework, url }: Readonly<Record<string, string>>): string {
  const application = framework === undefined ? "this application" : `this ${framework} application`;
  const address = url === undefined ? "its URL" : url;
  return `Add a webhook receiver for ${events} to ${application}.

1. Read the resources service://docs/receiving-webhooks and service://docs/webhooks-library.
2. Add a route that takes POST requests, with the adapter of the package service-webhooks for the framework. It must verify the signature over the raw body, store the event ID in a unique column before it acts, and return 2xx within ${LIMITS.deliverySeconds} seconds.
3. Read the signing secret from the environment variable SERVICE_WEBHOOK_SECRET. Never write it to a file under version control.
4. Create an endpoint with create_webhook_endpoint for ${address}, and give the user its secret. If the platform cannot reach the application, ask the user to run \`service listen --forward-to <URL>\` instead.
5. Send an event with trigger_event, wait for it with wait_for_event, and read its delivery with list_deliveries and get_delivery. Use explain if it failed.
6. If the tool check_receiver is available, grade the receiver, and fix what it reports.
7. Add a test that posts a signed event to the route, and one that posts the same event twice.`;
}

function debugEndpoint({ endpoint }: Readonly<Record<string, string>>): string {
  const start =
    endpoint === undefined
      ? "Find the endpoint with list_deliveries (status failed, then pending) and list_webhook_endpoints."
      : `Read the endpoint with get_webhook_endpoint (id ${endpoint}).`;
  return `Find out why deliveries to a webhook endpoint fail, and fix the cause.

1. ${start}
2. Call explain with the endpoint's ID: it names the likely cause, and the deliveries with their attempts.
3. Read the latest attempts with get_delivery: status code, error, response, request headers.
4. Read the resource service://docs/troubleshooting for this cause.
5. If the receiver is in this workspace, fix it. Otherwise tell the user what to change there.
6. If the endpoint is disabled, enable it with update_webhook_endpoint once the cause is fixed.
7. Send a test event with ping_webhook_endpoint, and read its delivery.
8. When it succeeds, retry the failed deliveries with retry_delivery, after the user has agreed.`;
}

import { Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Identity } from "../../../contract/schemas/account.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { chooseTools, createMcpServer } from "../../mcp/server.ts";
import { receiverTools } from "../../mcp/tools/receiver.ts";

/** Maximum duration of a stop. */
const MAX_SETTLE_MILLISECONDS = 10_000;

interface McpOptions {
  tools?: string;
  outputSchemas?: boolean;
}

/** Serves until the client closes stdin, or a signal ends it. Import this module lazily: the protocol is large. */
export async function runMcp(context: Context, options: McpOptions): Promise<void> {
  const tools = chooseTools(options.tools, receiverTools(context));
  const client = await context.client();
  const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
  if (identity.livemode)
    throw new UsageError("MCP tools are available in the sandbox only", { hint: "Use a sandbox credential." });

  const calls = new Set<Promise<unknown>>();
  const server = createMcpServer({
    tools,
    outputSchemas: options.outputSchemas,
    version: context.version,
    instructions: `The sandbox of account ${identity.account.name} (${identity.account.id}) at ${client.baseUrl.origin}.`,
    client,
    scopes: identity.scopes,
    now: () => context.now(),
    uuid: () => context.uuid(),
    runnable: (text) => context.output.runnable(text),
    onCall(running) {
      calls.add(running);
      void running.finally(() => calls.delete(running));
    },
  });

  const ended = endOf(context);
  await server.connect(new StdioServerTransport(context.stdin, protocolStream(context)));
  if (context.stdin.isTTY) {
    context.output.note(`Serving MCP on stdin and stdout, for an MCP client. To configure one: service mcp --help`);
    context.output.note("Press Ctrl-C to stop.");
  }
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

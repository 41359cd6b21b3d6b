import { setMaxListeners } from "node:events";
import { Agent, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { duplexPair } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { OAUTH_PATHS } from "../../contract/scopes.ts";
import { HEADERS } from "../../contract/headers.ts";
import { isLoopback } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Caller } from "../domain/request-context.ts";
import type { With } from "../tools.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { versionOfResponse } from "../http/headers.ts";
import { resourceMetadataOf } from "../oauth/token-routes.ts";

export const MCP_PATH = "/mcp";
/** RFC 9728, section 3.1: the path of the resource follows the well-known path. */
const METADATA_PATH = OAUTH_PATHS.resourceMetadata + MCP_PATH;

/** One request of the Model Context Protocol, authenticated, and what responding to it requires. */
export interface McpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The parsed body, which is not validated. */
  body: unknown;
  caller: Caller;
  credential: string;
  /** Opens connections to the API in this process, on behalf of the client. */
  agent: Agent;
  baseUrl: string;
  version: string;
  /** Aborted when the client disconnects or the platform stops. */
  signal: AbortSignal;
}

/** Loads the MCP server, which is large and a client of the API: the platform only knows how to call it. */
export type LoadMcp = () => Promise<(exchange: McpExchange) => Promise<void>>;

/**
 * Serves MCP over Streamable HTTP, without sessions: `POST /mcp` with the same credentials as the API. GET and DELETE
 * belong to sessions, so they get 405.
 */
export function registerMcp(
  app: FastifyInstance,
  tools: With<"baseUrl" | "publicUrl" | "versions" | "clientAddress" | "rateLimit">,
  { load, authenticate, version }: { load: LoadMcp; authenticate: Authenticate; version: string },
): void {
  const { baseUrl, publicUrl, versions, clientAddress, rateLimit } = tools;
  const stopping = new AbortController();
  app.addHook("preClose", (done) => {
    stopping.abort(new Error("The platform is stopping"));
    done();
  });

  app.get(METADATA_PATH, { config: { crossOrigin: "anyone" } }, async () =>
    resourceMetadataOf(baseUrl(), { resource: baseUrl() + MCP_PATH, name: "Service MCP" }),
  );

  app.post(
    MCP_PATH,
    {
      config: { resourceMetadata: METADATA_PATH, crossOrigin: "anyone" },
      onRequest: async (request, reply) => {
        // Cookies are for the dashboard.
        delete request.raw.headers.cookie;
        request.caller = await authenticate(request.raw, ({ tenant }) => {
          void reply.header(HEADERS.version, versionOfResponse(versions, request.headers, tenant.account.version));
        });
        if (request.caller.credential.kind !== "access_token") assertOrigin(request.raw, publicUrl);
        if (request.caller.tenant.livemode) {
          throw new ApiError("sandbox_only", "MCP tools work with a sandbox credential only.");
        }
        await rateLimit?.take(request.caller.credential.id, (name, value) => reply.header(name, value));
      },
    },
    async (request, reply) => {
      if (request.body === undefined) throw new ApiError("invalid_json", "Send a JSON-RPC message.");
      const serve = await load();
      const closed = new AbortController();
      reply.raw.once("close", () => closed.abort(new Error("The client disconnected")));
      const agent = new InProcessAgent(app.server, clientAddress(request.raw));
      const signal = AbortSignal.any([closed.signal, stopping.signal]);
      // Each request of a tool in flight listens for the end.
      setMaxListeners(0, signal);
      reply.hijack();
      sendHeaders(reply);
      await serve({
        request: request.raw,
        response: reply.raw,
        body: request.body,
        caller: request.caller!,
        credential: request.headers.authorization!.trim().split(/ +/)[1]!,
        agent,
        baseUrl: baseUrl(),
        version,
        signal,
      });
    },
  );
}

/** A page of another site may use a user's access token, but not an API key. */
function assertOrigin({ headers: { origin, host } }: IncomingMessage, publicUrl: URL | undefined): void {
  if (origin === undefined || origin === publicUrl?.origin) return;
  const named = parseUrl(origin);
  if (named !== undefined && (isLoopback(named.hostname) || named.host === host)) return;
  throw new ApiError(
    "cross_site_request",
    "A page of another origin needs an access token: an API key is for programs, and pages of this origin or machine.",
  );
}

/** The response bypasses Fastify, which otherwise sends the headers. */
function sendHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}

/**
 * Connects to the server of this process without a socket, so that calls are authenticated, limited and logged as those
 * of any client. The server sees the address of the MCP client.
 */
class InProcessAgent extends Agent {
  readonly #server: Server;
  readonly #address: string | undefined;

  constructor(server: Server, address: string | undefined) {
    super();
    this.#server = server;
    this.#address = address;
  }

  override createConnection() {
    const [near, far] = duplexPair();
    this.#server.emit("connection", Object.assign(far, { remoteAddress: this.#address }));
    return near;
  }
}

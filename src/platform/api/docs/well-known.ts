import type { FastifyInstance } from "fastify";
import { OAUTH_PATHS } from "../../../contract/scopes.ts";
import { DOCUMENT_PATH } from "../serve.ts";
import { PROBLEMS_PATH } from "../../http/problem.ts";
import { MCP_PATH } from "../mcp.ts";
import type { With } from "../../tools.ts";
import { HOME } from "../../oauth/views.ts";
import { GUIDES_PATH, REFERENCE_PATH } from "./site.ts";

const SECURITY_PATH = "/.well-known/security.txt";
/** RFC 9116 recommends less than a year. */
const SECURITY_DAYS = 180;
const DAY_MILLISECONDS = 86_400_000;

const LINKS = {
  api_reference: REFERENCE_PATH,
  openapi: DOCUMENT_PATH,
  errors: PROBLEMS_PATH,
  dashboard: HOME,
  oauth_metadata: OAUTH_PATHS.metadata,
};

/** Serves well-known paths: for visitors, crawlers, security researchers and language models. */
export function registerWellKnownPaths(
  app: FastifyInstance,
  { clock, baseUrl }: With<"clock" | "baseUrl">,
  contact: string | undefined,
): void {
  const absolute = (path: string) => baseUrl() + path;

  app.get("/", { config: { crossOrigin: "anyone" } }, async (request, reply) => {
    // The router takes "*" for "/". Only OPTIONS has such a target (RFC 9112, section 3.2.4).
    if (request.url === "*") return reply.callNotFound();
    void reply.header("Vary", "Accept");
    if (/\btext\/html\b/.test(request.headers.accept ?? "")) return reply.redirect(HOME, 303);
    const links = Object.entries(LINKS).map(([name, path]) => [name, absolute(path)]);
    return { name: "Service API", links: Object.fromEntries(links) };
  });

  // RFC 9116 requires a contact.
  if (contact !== undefined) {
    app.get(SECURITY_PATH, async (_request, reply) => {
      const expires = new Date(clock.now() + SECURITY_DAYS * DAY_MILLISECONDS).toISOString().slice(0, 10);
      const lines = [
        `Contact: ${contact}`,
        `Expires: ${expires}T00:00:00Z`,
        "Preferred-Languages: en",
        `Canonical: ${absolute(SECURITY_PATH)}`,
      ];
      return reply.header("Content-Type", "text/plain; charset=utf-8").send(`${lines.join("\n")}\n`);
    });
  }

  app.get("/llms.txt", { config: { crossOrigin: "anyone" } }, async (_request, reply) =>
    reply.header("Content-Type", "text/markdown; charset=utf-8").send(`# Service API

> The API of a payments platform with signed webhooks, over HTTP. JSON in and out, under /v1.

Send an API key or an OAuth access token as \`Authorization: Bearer …\`. A credential belongs to the sandbox or to the
live mode. Errors are problem details (RFC 9457) with a stable \`code\`.

## Reference

- [OpenAPI document](${absolute(DOCUMENT_PATH)}): every operation, schema, event and error
- [API reference](${absolute(REFERENCE_PATH)}): the same, for people
- [Guides](${absolute(GUIDES_PATH)}): receiving and testing webhooks, commands, troubleshooting
- [Errors](${absolute(PROBLEMS_PATH)}): a page for each code, with its cause and what to do
- [OAuth metadata](${absolute(OAUTH_PATHS.metadata)}): authorization code with PKCE, device codes, refresh, revocation

## Tools

- \`service-cli\`: the command line, with a local platform, webhook forwarding and an MCP server (\`service mcp\`)
- ${absolute(MCP_PATH)}: the Model Context Protocol over Streamable HTTP, with a sandbox credential
- \`service-cli/webhooks\`: the JavaScript library that verifies and parses deliveries
`),
  );
}

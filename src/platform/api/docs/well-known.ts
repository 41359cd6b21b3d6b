import type { FastifyInstance } from "fastify";
import { OAUTH_PATHS } from "../../../contract/scopes.ts";
import { DOCUMENT_PATH } from "../serve.ts";
import { PROBLEMS_PATH } from "../../http/problem.ts";
import type { With } from "../../tools.ts";
import { HOME } from "../../oauth/views.ts";
import { REFERENCE_PATH } from "./site.ts";

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

/** Serves well-known paths: for visitors, crawlers and security researchers. */
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
}

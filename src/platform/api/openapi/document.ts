import { HEADERS } from "../../../contract/headers.ts";
import { OAUTH_PATHS, SCOPES, oauthScopeName } from "../../../contract/scopes.ts";
import { IDENTIFIER_HEADER, SIGNATURE_HEADER } from "../leak-reports.ts";
import { DELIVERY_HEADERS, furtherPathsOf, webhooksOf } from "./further-paths.ts";
import { headerComponents, requestHeaders, sharedResponses } from "./responses.ts";
import { pathsOf, tagsOf } from "./paths.ts";
import { type Json, Schemas } from "./schemas.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { LISTEN_PATH, LISTEN_SUBPROTOCOL } from "../../../contract/listen.ts";
import { PROBLEMS_PATH } from "../../http/problem.ts";

/** Information that applies to every operation, in Markdown. */
const INTRODUCTION = `Send an API key or an OAuth access token as \`Authorization: Bearer …\`. A credential belongs to one account and one
environment, live or sandbox, and cannot access anything else.

**Bodies** are JSON of at most ${LIMITS.bodyBytes / 1024 ** 2} MiB. Unknown fields are rejected, never ignored. Times are UTC, \`YYYY-MM-DDTHH:MM:SSZ\`.

**Lists** are newest first. \`next_cursor\` leads to the next page, with the same filters. Filters can return fewer items than
\`limit\`, or none: continue until \`has_more\` is false.

**Errors** are problem details (RFC 9457) with a stable \`code\`; [each has a page](${PROBLEMS_PATH}).

**Idempotency**: send a new \`Idempotency-Key\` with every POST, and the same one when you repeat it. For ${LIMITS.idempotencySeconds / 3600} hours a
repeated request returns the first response.

**Versions**: \`Service-Version\` selects a version by its date (default: the account's pinned version).

**Events** are delivered to webhook endpoints, signed, at least once. In the sandbox, \`service listen\` also receives them, over a
WebSocket (\`${LISTEN_PATH}\`, subprotocol \`${LISTEN_SUBPROTOCOL}\`).

To generate a client, use the [OpenAPI document](/openapi.json).`;

/** Facts about the platform that serves the document. */
interface DocumentFacts {
  baseUrl: string;
  /** Dates, oldest first. */
  versions: readonly string[];
  contact: string | undefined;
}

/** Returns the OpenAPI 3.1 document, generated from the table of operations and the contract's schemas only. */
export function buildDocument({ baseUrl, versions, contact }: DocumentFacts): Json {
  const schemas = new Schemas();
  const paths = { ...pathsOf(schemas, baseUrl), ...furtherPathsOf(schemas, baseUrl) };
  const webhooks = webhooksOf(schemas);
  const responses = sharedResponses(schemas, baseUrl);
  return {
    openapi: "3.1.1",
    info: {
      title: "Service API",
      version: versions.at(-1),
      summary: "API of a payments platform with signed webhooks",
      description: INTRODUCTION,
      ...(contact === undefined ? {} : { contact: contactOf(contact) }),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This platform" }],
    tags: tagsOf(Object.keys(paths)),
    paths,
    webhooks,
    components: {
      schemas: schemas.components,
      responses,
      parameters: { ...requestHeaders(versions), ...DELIVERY_HEADERS },
      headers: headerComponents(),
      securitySchemes: securitySchemes(baseUrl),
    },
  };
}

function contactOf(contact: string): Json {
  const [, email] = /^mailto:(.+)$/i.exec(contact) ?? [];
  return { name: "Operator", ...(email === undefined ? { url: contact } : { email }) };
}

function securitySchemes(baseUrl: string): Json {
  return {
    apiKey: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "sk_… or rk_…",
      description:
        "An API key. It belongs to one environment; a restricted one (`rk_…`) has the scopes it was created with.",
    },
    session: {
      type: "apiKey",
      in: "header",
      name: HEADERS.environment,
      description:
        "The session cookie of a user who is signed in to the dashboard, for this origin only. The header `Service-Environment` selects `sandbox` or `live`; without it the cookie is ignored.",
    },
    leakReport: {
      type: "apiKey",
      in: "header",
      name: SIGNATURE_HEADER,
      description: `ECDSA over P-256 with SHA-256 of the body as it is sent, DER in base64, by the key that \`${IDENTIFIER_HEADER}\` names.`,
    },
    oauth: {
      type: "oauth2",
      description: "An access token of an app that acts for a user. PKCE with S256 is mandatory.",
      flows: {
        authorizationCode: {
          authorizationUrl: baseUrl + OAUTH_PATHS.authorize,
          tokenUrl: baseUrl + OAUTH_PATHS.token,
          refreshUrl: baseUrl + OAUTH_PATHS.token,
          scopes: Object.fromEntries(SCOPES.map((scope) => [oauthScopeName(scope), `The same as ${scope}`])),
        },
      },
    },
  };
}

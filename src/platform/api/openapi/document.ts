import { HEADERS } from "../../../contract/headers.ts";
import { OAUTH_PATHS, oauthScopeName, SCOPES } from "../../../contract/scopes.ts";
import { IDENTIFIER_HEADER, SIGNATURE_HEADER } from "../leak-reports.ts";
import { DELIVERY_HEADERS, furtherPathsOf, webhooksOf } from "./further-paths.ts";
import { GENERAL_ERRORS, headerComponents, requestHeaders, sharedResponses } from "./responses.ts";
import { pathsOf, tagGroupsOf, tagsOf } from "./paths.ts";
import { type Json, Schemas } from "./schemas.ts";
import { STATUS_CODES } from "node:http";
import { ERRORS } from "../../../contract/errors.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { LISTEN_PATH, LISTEN_SUBPROTOCOL } from "../../../contract/listen.ts";
import { exampleProblem, PROBLEMS_PATH } from "../../http/problem.ts";

interface DocumentFacts {
  baseUrl: string;
  /** Dates, oldest first. */
  versions: readonly string[];
  contact: string | undefined;
}

/** Returns the OpenAPI 3.1 document, generated from the table of operations and the contract's schemas only. */
export function buildDocument({ baseUrl, versions, contact }: DocumentFacts): Json {
  const schemas = new Schemas(baseUrl);
  const paths = { ...pathsOf(schemas), ...furtherPathsOf(schemas) };
  const webhooks = webhooksOf(schemas);
  const responses = sharedResponses(schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: "Service API",
      version: versions.at(-1),
      summary: "API of a payments platform with signed webhooks",
      description: introduction(baseUrl, versions.at(-1)!),
      ...(contact === undefined ? {} : { contact: contactOf(contact) }),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This platform" }],
    tags: tagsOf(Object.keys(paths)),
    "x-tagGroups": tagGroupsOf(Object.keys(paths)),
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

/**
 * Returns what applies to every operation, in Markdown, for a platform at this address and with this version. The words
 * after the language of a block of code are its title.
 */
export function introduction(baseUrl: string, version: string): string {
  return `The API has resource-oriented paths, takes and returns JSON, and uses the standard methods, statuses and headers of HTTP.
Begin with [Using the API](/docs/guides/using-the-api.html), or [generate a client](/docs/guides/clients.html) from the
[OpenAPI document](/openapi.json).

## Authentication

Send an API key or an OAuth access token with each request, as \`Authorization: Bearer …\`. You create
[API keys](/docs/guides/authentication.html#api-keys) in the dashboard, with \`service keys create\`, or with the API.

Each operation says which [scope](/docs/guides/authentication.html#scopes) it requires, such as \`orders:write\`; write does not include read. A key that begins with \`sk_\`
has all scopes, one that begins with \`rk_\` those that it was created with. A request without a valid credential returns 401,
without the scope 403.

The samples read the key from \`SERVICE_API_KEY\`. In the folder of \`service dev\`, run \`set -a; source .env.local; set +a\` to set it.
\`service serve\` shows the keys at its first start: in a terminal itself, in a pipe the path of
the file that has them. With \`--ephemeral\`, it always shows the keys.

## Environments

An account has two environments, sandbox and live. Each has its own objects, endpoints and keys, and the credential selects
it: sandbox keys begin with \`sk_sandbox_\` or \`rk_sandbox_\`, live keys with \`sk_live_\` or \`rk_live_\`. An ID of the other
environment returns 404. Each object says where it belongs in \`livemode\`.

The test clock, snapshots and faults exist in the sandbox only.

## Requests and responses

- Bodies are JSON of at most ${LIMITS.bodyBytes / 1024 ** 2} MiB. Unknown fields and parameters are rejected, so that a misspelled one does not go unnoticed.
- Times are in UTC, with whole seconds: \`2026-11-01T12:00:00Z\`.
- Amounts are integers in the currency's minor unit: 1999 is 19.99 EUR.
- \`metadata\` stores your own strings: at most ${LIMITS.metadataKeys} keys of ${LIMITS.metadataKeyLength} characters, with values of ${LIMITS.metadataValueLength}.
- \`Request-Id\` identifies the request in the request log, for ${LIMITS.requestLogSeconds / 86_400} days. \`service why\` explains it.

\`\`\`http Headers of a response
HTTP/1.1 201 Created
Content-Type: application/json; charset=utf-8
Location: /v1/orders/ord_4Vf8aTqz0bKm2sNw9XyRcd
Request-Id: req_4Vf8aTqz0bKm2sNw9XyRcd
Service-Version: ${version}
RateLimit-Policy: "default";q=200;w=2
RateLimit: "default";r=199;t=1
\`\`\`

## Errors

The body of an error response is a problem document (RFC 9457). Programs decide by \`code\`, which never changes its meaning;
\`detail\` is for people, and says what to change. \`type\` is the address of a page with causes and remedies. For
\`invalid_request\`, \`errors\` lists each invalid field.

Send the same request again after a lost connection, 408, 429, 5xx or 409 \`idempotency_in_flight\`, after the seconds in
\`Retry-After\`. After any other 4xx, correct it first: [what each response means](/docs/guides/using-the-api.html#error-handling).

Each operation lists its own errors. Any request can also get these:

${generalErrors()}

\`\`\`json 400 Bad Request
${JSON.stringify(exampleProblem("invalid_request", baseUrl), null, 2)}
\`\`\`

## Pagination

Lists are newest first. \`limit\` sets the size of a page: ${LIMITS.pageDefault} by default, at most ${LIMITS.maxPageSize}. To get the next page, send
\`next_cursor\` as \`cursor\`, with the same filters.

Filters can leave fewer items on a page than \`limit\`, or none: continue until \`has_more\` is false.

\`\`\`js All customers
let page;
do {
  const cursor = page === undefined ? "" : \`&cursor=\${page.next_cursor}\`;
  const response = await fetch(\`${baseUrl}/v1/customers?limit=100\${cursor}\`, {
    headers: { Authorization: \`Bearer \${process.env.SERVICE_API_KEY}\` },
  });
  if (!response.ok) throw new Error((await response.json()).detail);
  page = await response.json();
  for (const customer of page.data) console.log(customer.email);
} while (page.has_more);
\`\`\`

## Idempotency

Send a new random \`Idempotency-Key\` with each POST, and the same one when you [send the request again](#errors). The cURL samples
of the operations leave it out. For ${LIMITS.idempotencySeconds / 3600} hours, the repeated request has no further effect: it returns the first response, with
\`Idempotent-Replayed: true\`.

A key has 1 to ${LIMITS.idempotencyKeyLength} visible ASCII characters. With another body it returns 422, while the first request is in progress 409. GET,
PATCH and DELETE are safe to repeat without a key.

\`\`\`sh The second request creates no second order
for attempt in 1 2; do
  curl -X POST ${baseUrl}/v1/orders \\
    -H "Authorization: Bearer $SERVICE_API_KEY" \\
    -H "Idempotency-Key: order-of-cart-1042" \\
    -H "Content-Type: application/json" \\
    -d '{"amount":1999,"currency":"EUR"}'
done
\`\`\`

## Rate limits

Each credential may send 100 requests a second, and up to 200 at once, unless the operator of the platform has set another limit.
\`RateLimit-Policy\` shows the burst \`q\` and the seconds \`w\` in which it is restored, \`RateLimit\` the requests that are left (\`r\`).

A request above the limit returns 429 and is not executed. Wait for the seconds in \`Retry-After\`.

\`\`\`http A request above the limit
HTTP/1.1 429 Too Many Requests
Retry-After: 1
RateLimit-Policy: "default";q=200;w=2
RateLimit: "default";r=0;t=2
\`\`\`

## Versions

A version is a date. \`Service-Version\` selects the version of a request, the account's pinned version applies without it, and
each response has the header, too. Within a version, fields, event types and error codes are only added, so ignore those that you
do not know.

\`\`\`sh A request with a version
curl ${baseUrl}/v1/versions \\
  -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H "Service-Version: ${version}"
\`\`\`

## Events

Each change creates an event. The platform sends it to the webhook endpoints that subscribe to its type: signed, and at
least once; failed attempts are [repeated](/docs/guides/concepts.html#retry-schedule) for up to ${LIMITS.retryTotalSeconds / 86_400} days. [Receiving webhooks](/docs/guides/receiving-webhooks.html) explains how to verify
and process them.

In the sandbox, \`service listen\` forwards events to localhost. It receives them over a WebSocket (\`${LISTEN_PATH}\`, subprotocol
\`${LISTEN_SUBPROTOCOL}\`).`;
}

/** Returns a list with an item for each status. */
function generalErrors(): string {
  const statuses = [...new Set(GENERAL_ERRORS.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return statuses
    .map((status) => {
      const codes = GENERAL_ERRORS.filter((code) => ERRORS[code].status === status);
      const links = codes.map((code) => `[\`${code}\`](${PROBLEMS_PATH}/${code})`);
      return `- ${status} ${STATUS_CODES[status]}: ${links.join(", ")}`;
    })
    .join("\n");
}

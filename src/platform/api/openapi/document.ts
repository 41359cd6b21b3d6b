import { HEADERS } from "../../../contract/headers.ts";
import { OAUTH_PATHS, SCOPES, oauthScopeName } from "../../../contract/scopes.ts";
import { IDENTIFIER_HEADER, SIGNATURE_HEADER } from "../leak-reports.ts";
import { DELIVERY_HEADERS, furtherPathsOf, webhooksOf } from "./further-paths.ts";
import { headerComponents, requestHeaders, sharedResponses } from "./responses.ts";
import { pathsOf, tagGroupsOf, tagsOf } from "./paths.ts";
import { type Json, Schemas } from "./schemas.ts";
import { introduction } from "./introduction.ts";

/** Facts about the platform that serves the document. */
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

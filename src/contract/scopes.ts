import { type KindWith, type Resource, RESOURCES, kindsWith, resourceOf } from "./resources.ts";

type ScopedResource = (typeof RESOURCES)[KindWith<"scoped">]["plural"];

/** Permissions of a credential: `<resource>:read` or `<resource>:write`; write does not include read. */
export type Scope = `${ScopedResource}:${"read" | "write"}` | "listen:read";

/** Resources with a scope for reading and one for writing. */
export const SCOPED_RESOURCES: readonly ScopedResource[] = kindsWith("scoped").map((kind) => RESOURCES[kind].plural);

export const SCOPES: readonly Scope[] = [
  ...SCOPED_RESOURCES.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`]),
  "listen:read",
];

/** Accepted, but no operation requires it: only the platform writes request logs. */
export const SCOPE_WITHOUT_EFFECT: Scope = "request_logs:write";

const BY_PLURAL = new Map<string, Resource>(
  kindsWith("scoped").map((kind) => [RESOURCES[kind].plural, resourceOf(kind)]),
);

export interface Permission {
  /** `see and change customers` */
  words: string;
  scopes: readonly Scope[];
  /** What to consider before it is granted. */
  warning: string | undefined;
}

/** Returns what scopes permit, by resource, in their order. */
export function permissionsOf(scopes: readonly Scope[]): Permission[] {
  const byResource = new Map<string, Scope[]>();
  for (const scope of scopes) {
    if (scope === SCOPE_WITHOUT_EFFECT) continue;
    const [resource = ""] = scope.split(":");
    byResource.set(resource, [...(byResource.get(resource) ?? []), scope]);
  }
  return [...byResource].map(([resource, own]) => {
    const { label, labels, writeWarning } = BY_PLURAL.get(resource) ?? {};
    if (labels === undefined) return { words: "receive events with a listener", scopes: own, warning: undefined };
    const nouns = labels.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    const verbs = own.map((scope) => (scope.endsWith(":read") ? "see" : "change"));
    return {
      words: `${verbs.join(" and ")} ${label === labels ? `the ${nouns}` : nouns}`,
      scopes: own,
      warning: verbs.includes("change") ? writeWarning : undefined,
    };
  });
}

/** Returns what scopes permit in a line: `See and change customers, see orders`. */
export function permissionsInWords(scopes: readonly string[]): string {
  const known = SCOPES.filter((scope) => scopes.includes(scope));
  if (known.length === SCOPES.length) return "Full access";
  const words = permissionsOf(known).map((permission) => permission.words);
  return words.join(", ").replace(/^./, (letter) => letter.toUpperCase());
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** The OAuth app of the CLI: public, known to every platform, with loopback redirects only. */
export const CLI_CLIENT_ID = "app_service_cli";
/** Path of its redirect URI: `http://127.0.0.1:<any port>` or `http://[::1]:<any port>`, and this path. */
export const CLI_REDIRECT_PATH = "/callback";

/** Paths under `{auth_url}`. */
export const OAUTH_PATHS = {
  metadata: "/.well-known/oauth-authorization-server",
  /** The same metadata, where OpenID Connect clients look by default. */
  openidMetadata: "/.well-known/openid-configuration",
  resourceMetadata: "/.well-known/oauth-protected-resource",
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
  introspect: "/oauth/introspect",
  userinfo: "/oauth/userinfo",
  deviceAuthorization: "/oauth/device_authorization",
  device: "/oauth/device",
} as const;

export const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** A parameter of `/oauth/authorize` and `/oauth/device_authorization` besides the standard ones. */
export const ENVIRONMENT_PARAMETER = "environment";

/** Returns the OAuth name of a scope: `read_customers` for `customers:read`. */
export function oauthScopeName(scope: Scope): string {
  const [resource, action] = scope.split(":");
  return `${action}_${resource}`;
}

/** Returns the scope of an OAuth name, or undefined if there is none. */
export function scopeOfOAuthName(name: string): Scope | undefined {
  const cut = name.indexOf("_");
  const scope = `${name.slice(cut + 1)}:${name.slice(0, cut)}`;
  return isScope(scope) ? scope : undefined;
}

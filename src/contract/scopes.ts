/** What a credential may do: `<resource>:read` or `<resource>:write`; write does not imply read (decisions 6). */
export const SCOPED_RESOURCES = [
  "customers",
  "orders",
  "payments",
  "events",
  "webhook_endpoints",
  "deliveries",
  "api_keys",
  "oauth_apps",
  "request_logs",
] as const;

type ScopedResource = (typeof SCOPED_RESOURCES)[number];

export type Scope = `${ScopedResource}:${"read" | "write"}` | "listen:read";

export const SCOPES: readonly Scope[] = [
  ...SCOPED_RESOURCES.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`]),
  "listen:read",
];

/** True when the text names a scope. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

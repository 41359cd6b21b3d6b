import { type KindWith, kindsWith, RESOURCES } from "./resources.ts";

type ScopedResource = (typeof RESOURCES)[KindWith<"scoped">]["plural"];

/** What a credential may do: `<resource>:read` or `<resource>:write`; write does not imply read. */
export type Scope = `${ScopedResource}:${"read" | "write"}` | "listen:read";

/** Resources with a scope to read and one to write. */
export const SCOPED_RESOURCES: readonly ScopedResource[] = kindsWith("scoped").map((kind) => RESOURCES[kind].plural);

export const SCOPES: readonly Scope[] = [
  ...SCOPED_RESOURCES.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`]),
  "listen:read",
];

/** Returns true if the text names a scope. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

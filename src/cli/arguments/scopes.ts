import { InvalidArgumentError } from "commander";
import { nearest } from "../../contract/nearest.ts";
import { SCOPES, type Scope, isScope, scopeOfOAuthName } from "../../contract/scopes.ts";

/** Parses one value of a flag that collects scopes: `customers:read`, `read_customers`, or several with commas. */
export function scopeNames(text: string, previous: readonly Scope[] = []): Scope[] {
  const scopes = text
    .split(/[\s,+]+/)
    .filter((name) => name !== "")
    .map(scopeNamed);
  if (scopes.length === 0) throw new InvalidArgumentError("Must be one or more scopes, such as customers:read.");
  return [...new Set([...previous, ...scopes])];
}

function scopeNamed(name: string): Scope {
  const scope = isScope(name) ? name : scopeOfOAuthName(name);
  if (scope !== undefined) return scope;
  const [guess] = nearest(name, SCOPES);
  throw new InvalidArgumentError(
    `Unknown scope "${name}". ${guess === undefined ? `Scopes: ${SCOPES.join(", ")}.` : `Did you mean ${guess}?`}`,
  );
}

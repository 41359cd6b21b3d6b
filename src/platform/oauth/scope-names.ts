import { SCOPES, type Scope, oauthScopeName, scopeOfOAuthName } from "../../contract/scopes.ts";
import { nearest } from "../../contract/nearest.ts";
import { OAuthError } from "./oauth-error.ts";

export const SCOPE_NAMES: readonly string[] = SCOPES.map(oauthScopeName);

/**
 * Parses `read_customers write_orders`. Returns each scope once, in the contract's order. Throws OAuthError
 * `invalid_scope`.
 */
export function parseScopeNames(text: string | undefined): Scope[] {
  const names = new Set((text ?? "").split(" ").filter((name) => name !== ""));
  if (names.size === 0) throw new OAuthError("invalid_scope", `Name the requested scopes: ${SCOPE_NAMES.join(" ")}`);
  for (const name of names) {
    if (scopeOfOAuthName(name) !== undefined) continue;
    // API keys have other names of the same scopes.
    const ofKeys = SCOPES.find((scope) => scope === name);
    const [guess] = ofKeys === undefined ? nearest(name, SCOPE_NAMES) : [oauthScopeName(ofKeys)];
    const help = guess === undefined ? "" : `; did you mean ${guess}?`;
    throw new OAuthError("invalid_scope", `Unknown scope ${name.slice(0, 60)}${help}`);
  }
  return SCOPES.filter((scope) => names.has(oauthScopeName(scope)));
}

export function formatScopeNames(scopes: readonly Scope[]): string {
  return scopes.map(oauthScopeName).join(" ");
}

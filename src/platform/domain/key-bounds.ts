import type { FieldError } from "../../contract/schemas/problem.ts";
import type { Scope } from "../../contract/scopes.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { type AddressRange, covers, parseRange } from "./addresses.ts";
import { ApiError, insufficientScope } from "./api-error.ts";

/** A key's permissions, address ranges and expiry. */
interface Bounds {
  scopes: readonly Scope[];
  /** CIDR ranges; empty allows every address. */
  ipAllowlist: readonly string[];
  /** Unix milliseconds; null for no expiry. */
  expiresAt: number | null;
}

/**
 * The credential that creates a key. An access token has neither ranges nor expiry, since the key belongs to its user.
 */
export interface Creator extends Bounds {
  credential: { id: string };
  user: { id: string } | null;
}

/** A key never grants more than its creator has. Throws ApiError `insufficient_scope` or `exceeds_maker`. */
export function assertWithin(creator: Bounds, key: Bounds): void {
  const lacking = key.scopes.filter((scope) => !creator.scopes.includes(scope));
  if (lacking.length > 0) {
    throw insufficientScope(`A key cannot grant scopes that it does not have: ${lacking.join(", ")}.`, lacking);
  }
  const errors = [...rangeErrors(creator, key), ...endErrors(creator, key)];
  if (errors.length === 0) return;
  const detail = errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join("; ");
  throw new ApiError("exceeds_maker", `The new key would exceed the key that creates it: ${detail}.`, {
    members: { errors },
  });
}

function rangeErrors(creator: Bounds, key: Bounds): FieldError[] {
  if (creator.ipAllowlist.length === 0) return [];
  const outer = rangesOf(creator.ipAllowlist);
  const inner = rangesOf(key.ipAllowlist);
  if (inner.length > 0 && inner.every((range) => outer.some((allowed) => covers(allowed, range)))) return [];
  const detail = `must be within ${creator.ipAllowlist.join(", ")}`;
  return [{ pointer: "/ip_allowlist", code: "exceeds_maker", detail }];
}

function endErrors(creator: Bounds, key: Bounds): FieldError[] {
  if (creator.expiresAt === null || (key.expiresAt !== null && key.expiresAt <= creator.expiresAt)) return [];
  const detail = `must not be after ${formatTimestamp(creator.expiresAt)}`;
  return [{ pointer: "/expires_at", code: "exceeds_maker", detail }];
}

/** The ranges were validated when they were stored. */
export function rangesOf(allowlist: readonly string[]): AddressRange[] {
  return allowlist.map((text) => parseRange(text)!);
}

import { type CredentialPrefix, displayOf, formatCredential } from "../../contract/credentials.ts";
import type { Environment } from "../../contract/environments.ts";
import type { ApiKey, ApiKeyCreate, ApiKeyUpdate } from "../../contract/schemas/api-key.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { type Scope, SCOPES } from "../../contract/scopes.ts";
import { formatTimestamp, parseTimestamp } from "../../contract/timestamps.ts";
import { type AddressRange, covers, parseRange } from "../../network/addresses.ts";
import { ApiError, insufficientScope, invalidFields, readsOf } from "./api-error.ts";
import type { RequestContext, Tenant } from "./request-context.ts";
import type { With } from "../tools.ts";
import { type ApiKeyRow, apiKeyRows, revokeApiKey } from "../storage/api-keys.ts";
import type { Transaction } from "../storage/database.ts";
import { storedChanges, storedFields, valuesOf } from "../storage/field-values.ts";

export type SecretTools = With<"vault" | "random">;

/** Creates a full-access key and stores only its digest. Returns the key, which cannot be retrieved again. */
export async function createFullKey(
  tx: Transaction,
  tools: SecretTools,
  key: { id: string; environment: number; environmentName: Environment; name: string; now: number },
): Promise<string> {
  const { secret } = await store(tx, tools, key.environmentName, {
    id: key.id,
    environment: key.environment,
    name: key.name,
    kind: "secret_key",
    scopes: JSON.stringify(SCOPES),
    ip_allowlist: "[]",
    expires_at: null,
    created: key.now,
    created_by: null,
  });
  return secret;
}

/**
 * Creates a key. What is omitted defaults to what the creator has: all of its scopes, its address ranges, its expiry. A
 * key with named scopes is a restricted key. Throws ApiError 403 if it would exceed its creator's permissions.
 */
export async function createApiKey(tools: SecretTools, context: RequestContext, creator: Creator, input: ApiKeyCreate) {
  const scopes = input.scopes ?? creator.scopes;
  const ranges = input.ip_allowlist ?? [...creator.ipAllowlist];
  const expiresAt = endOf(input, creator, context.now);
  assertWithin(creator, { scopes, ipAllowlist: ranges, expiresAt });
  const isFull = input.scopes === undefined && SCOPES.every((scope) => scopes.includes(scope));
  return toNewApiKey(
    await store(context.tx, tools, context.tenant.name, {
      id: context.newId("api_key"),
      environment: context.tenant.environment,
      ...storedFields("api_key", { ...input, scopes: inOrder(scopes), ip_allowlist: ranges }),
      expires_at: expiresAt,
      kind: isFull ? "secret_key" : "restricted_key",
      created: context.now,
      created_by: creatorOf(creator),
    }),
    context.tenant,
  );
}

/** Revokes a key and returns another with the same permissions. Throws ApiError `key_not_usable`, or as creation. */
export async function rollApiKey(tools: SecretTools, context: RequestContext, creator: Creator, id: string) {
  const { tx, tenant, now } = context;
  const old = await findUsable(context, id);
  assertWithin(creator, boundsOf(old));
  await revokeApiKey(tx, id, now, "rolled");
  const fresh = { ...old, id: context.newId("api_key"), created: now, created_by: creatorOf(creator) };
  return toNewApiKey(await store(tx, tools, tenant.name, fresh), tenant);
}

/** Changes what is given. Throws ApiError `key_not_usable`, `invalid_request`, or 403 beyond the editor's rights. */
export async function changeApiKey(context: RequestContext, creator: Creator, id: string, input: ApiKeyUpdate) {
  const row = await findUsable(context, id);
  const { scopes, expires_at: expiry } = input;
  if (scopes !== undefined && row.kind === "secret_key") {
    const detail = "cannot be changed: a full-access key has all scopes. Create a restricted key instead";
    throw invalidFields([{ pointer: "/scopes", code: "not_changeable", detail }]);
  }
  const given = scopes === undefined ? input : { ...input, scopes: inOrder(scopes) };
  Object.assign(row, storedChanges("api_key", given));
  if (expiry !== undefined) row.expires_at = endOf(input, creator, context.now);
  assertWithin(creator, boundsOf(row));
  await apiKeyRows.update(context.tx, row);
  return toApiKey(row, context.tenant);
}

function inOrder(scopes: readonly Scope[]): Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope));
}

/** Throws ApiError `not_found`, or `key_not_usable` for a key that is revoked or has expired. */
async function findUsable({ tx, tenant, now }: RequestContext, id: string): Promise<ApiKeyRow> {
  const row = await apiKeys.row(tx, tenant, id);
  if (row.revoked_at === null && (row.expires_at === null || row.expires_at > now)) return row;
  const state = row.revoked_at === null ? "has expired" : "is revoked";
  throw new ApiError("key_not_usable", `The key ${id} ${state}: create another instead.`);
}

function boundsOf({ scopes, ip_allowlist: ranges, expires_at: expiresAt }: ApiKeyRow) {
  return { scopes: JSON.parse(scopes) as Scope[], ipAllowlist: JSON.parse(ranges) as string[], expiresAt };
}

/** Revokes a key permanently. A revoked key stays as it is. */
export async function endApiKey({ tx, tenant, now }: RequestContext, id: string): Promise<ApiKey> {
  await apiKeys.row(tx, tenant, id);
  await revokeApiKey(tx, id, now, "revoked");
  return apiKeys.get(tx, tenant, id);
}

export const apiKeys = readsOf("api_key", apiKeyRows, toApiKey);

function endOf(input: ApiKeyCreate, creator: Creator, now: number): number | null {
  if (input.expires_at === undefined) return creator.expiresAt;
  if (input.expires_at === null) return null;
  const end = parseTimestamp(input.expires_at)!;
  if (end > now) return end;
  throw invalidFields([{ pointer: "/expires_at", code: "out_of_range", detail: "must be in the future" }]);
}

/** Returns the user, or the key if the credential belongs to no user. */
function creatorOf({ user, credential }: Creator): string {
  return user?.id ?? credential.id;
}

type NewKey = Omit<ApiKeyRow, "digest" | "prefix" | "last4" | "last_used" | "revoked_at" | "revoked_reason">;

async function store(tx: Transaction, { vault, random }: SecretTools, environment: Environment, key: NewKey) {
  const start = key.kind === "secret_key" ? "sk" : "rk";
  const prefix: CredentialPrefix = `${start}_${environment}_`;
  const secret = formatCredential(prefix, random.bytes(32));
  const row: ApiKeyRow = {
    ...key,
    digest: vault.digest(secret),
    ...displayOf(secret),
    last_used: null,
    revoked_at: null,
    revoked_reason: null,
  };
  await apiKeyRows.insert(tx, row);
  return { row, secret };
}

function toNewApiKey({ row, secret }: { row: ApiKeyRow; secret: string }, tenant: Tenant): ApiKey {
  return { ...toApiKey(row, tenant), key: secret };
}

export function toApiKey(row: ApiKeyRow, { livemode }: Pick<Tenant, "livemode">): ApiKey {
  const time = (value: number | null) => (value === null ? null : formatTimestamp(value));
  const { name, ...others } = valuesOf("api_key", row);
  return {
    id: row.id,
    object: "api_key",
    name,
    prefix: row.prefix,
    last4: row.last4,
    ...others,
    last_used: time(row.last_used),
    revoked_at: time(row.revoked_at),
    revoked_reason: row.revoked_reason,
    livemode,
    created: formatTimestamp(row.created),
    created_by: row.created_by,
  };
}

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
interface Creator extends Bounds {
  credential: { id: string };
  user: { id: string } | null;
}

/** A key never grants more than its creator has. Throws ApiError `insufficient_scope` or `exceeds_creator`. */
function assertWithin(creator: Bounds, key: Bounds): void {
  const lacking = key.scopes.filter((scope) => !creator.scopes.includes(scope));
  if (lacking.length > 0) {
    throw insufficientScope(`A key cannot grant scopes that it does not have: ${lacking.join(", ")}.`, lacking);
  }
  const errors = [...rangeErrors(creator, key), ...endErrors(creator, key)];
  if (errors.length === 0) return;
  const detail = errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join("; ");
  throw new ApiError("exceeds_creator", `The new key would exceed the key that creates it: ${detail}.`, {
    members: { errors },
  });
}

function rangeErrors(creator: Bounds, key: Bounds): FieldError[] {
  if (creator.ipAllowlist.length === 0) return [];
  const outer = rangesOf(creator.ipAllowlist);
  const inner = rangesOf(key.ipAllowlist);
  if (inner.length > 0 && inner.every((range) => outer.some((allowed) => covers(allowed, range)))) return [];
  const detail = `must be within ${creator.ipAllowlist.join(", ")}`;
  return [{ pointer: "/ip_allowlist", code: "exceeds_creator", detail }];
}

function endErrors(creator: Bounds, key: Bounds): FieldError[] {
  if (creator.expiresAt === null || (key.expiresAt !== null && key.expiresAt <= creator.expiresAt)) return [];
  const detail = `must not be after ${formatTimestamp(creator.expiresAt)}`;
  return [{ pointer: "/expires_at", code: "exceeds_creator", detail }];
}

/** The ranges were validated when they were stored. */
export function rangesOf(allowlist: readonly string[]): AddressRange[] {
  return allowlist.map((text) => parseRange(text)!);
}

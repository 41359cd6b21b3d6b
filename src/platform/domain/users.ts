import { type Environment, ENVIRONMENTS } from "../../contract/environments.ts";
import type { DeletedUser, User } from "../../contract/schemas/account.ts";
import { CLI_CLIENT_ID, CLI_REDIRECT_PATH } from "../../contract/scopes.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { With } from "../tools.ts";
import {
  deleteMember,
  findUserByEmail,
  firstAccount,
  insertAccount,
  insertUser,
  type UserRow,
  usersOfAccount,
} from "../storage/accounts.ts";
import { usableKeysOfUser } from "../storage/api-keys.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { insertOAuthApp } from "../storage/oauth-apps.ts";
import { deleteLinksOfUser, insertSignInLink } from "../storage/sessions.ts";
import { ApiError, assertId, missing } from "./api-error.ts";
import { createFullKey, type SecretTools, toApiKey } from "./api-keys.ts";
import type { Tenant } from "./request-context.ts";

export async function listUsers(queries: Queries, { account }: Tenant, you: string, now: number): Promise<User[]> {
  const rows = await usersOfAccount(queries, account.id);
  return rows.map((row) => {
    const until = row.invited_until ?? 0;
    return toUser(row, you, until > now ? until : null);
  });
}

/** Dependencies for creating an invitation. */
export type InviteTools = SecretTools & With<"clock" | "newId" | "baseUrl">;

/**
 * Adds a member without a password, and the link to choose one. A member who has not joined yet gets a new link, and the
 * earlier one stops working. Throws ApiError `email_taken`.
 */
export async function inviteUser(tx: Transaction, tools: InviteTools, accountId: string, email: string): Promise<User> {
  const now = tools.clock.now();
  const created: UserRow = {
    id: tools.newId("user", now),
    account_id: accountId,
    email,
    email_key: email.toLowerCase(),
    role: "member",
    password: null,
    created: now,
  };
  const isNew = await insertUser(tx, created);
  const row = isNew ? created : await findUserByEmail(tx, created.email_key);
  if (row === undefined || row.account_id !== accountId || row.role !== "member" || row.password !== null) {
    throw emailTaken();
  }
  if (!isNew) await deleteLinksOfUser(tx, row.id);
  const token = await createLinkToken(tx, tools, { userId: row.id, invitation: true, now });
  const user = toUser(row, "", now + INVITATION_SECONDS * 1000);
  return { ...user, invitation_url: `${tools.baseUrl()}/invitation?token=${token}` };
}

export function emailTaken(): ApiError {
  const errors = [{ pointer: "/email", code: "taken", detail: "another user has this email address" }];
  return new ApiError("email_taken", "Another user has that email address.", { members: { errors } });
}

const MAX_KEYS_LISTED = 100;

/**
 * Removes a member, and lists the keys that they created. Owners cannot be removed; users of other accounts are a 404.
 */
export async function removeUser(tx: Transaction, accountId: string, id: string, now: number): Promise<DeletedUser> {
  assertId("user", id);
  if (!(await deleteMember(tx, accountId, id))) missing("user", id);
  const keys = await usableKeysOfUser(tx, id, now, MAX_KEYS_LISTED + 1);
  const data = keys
    .slice(0, MAX_KEYS_LISTED)
    .map((row) => toApiKey(row, { livemode: row.environment_name === "live" }));
  const api_keys = { object: "list" as const, data, has_more: keys.length > MAX_KEYS_LISTED, next_cursor: null };
  return { id, object: "user", deleted: true, api_keys };
}

function toUser(row: UserRow, you: string, invitedUntil: number | null): User {
  return {
    id: row.id,
    object: "user",
    email: row.email,
    role: row.role,
    has_password: row.password !== null,
    is_you: row.id === you,
    created: formatTimestamp(row.created),
    invitation_expires_at: invitedUntil === null ? null : formatTimestamp(invitedUntil),
  };
}

/** How long a dashboard link and an invitation are valid, in seconds. */
export const SIGN_IN_LINK_SECONDS = 15 * 60;
const INVITATION_SECONDS = 3 * 86_400;

/** Creates a link's token and stores only its digest. */
export async function createLinkToken(
  tx: Transaction,
  { vault, random }: SecretTools,
  { userId, invitation, now }: { userId: string; invitation: boolean; now: number },
): Promise<string> {
  const token = Buffer.from(random.bytes(32)).toString("base64url");
  const expires_at = now + (invitation ? INVITATION_SECONDS : SIGN_IN_LINK_SECONDS) * 1000;
  const link = { user_id: userId, invitation: invitation ? 1 : 0, created: now, expires_at };
  await insertSignInLink(tx, { digest: vault.digest(token), ...link });
  return token;
}

/** A placeholder until the owner sets another at the first sign-in. */
const FIRST_EMAIL = "owner@localhost";

/** The first credentials of an empty database, shown once. */
export interface FirstAccount {
  id: string;
  keys: Record<Environment, string>;
  /** Signs the owner in, once, within 15 minutes. */
  linkToken: string;
}

/**
 * Creates the first account of an empty database: an owner, a full-access key for each environment, and the CLI's own app.
 * Returns undefined if there is an account already.
 */
export async function createFirstAccount(
  tx: Transaction,
  tools: SecretTools & With<"newId"> & { version: string },
  now: number,
): Promise<FirstAccount | undefined> {
  if ((await firstAccount(tx)) !== undefined) return undefined;
  const id = tools.newId("account", now);
  const environments = await insertAccount(tx, { id, name: "Default account", version: tools.version, created: now });
  const keys = {} as Record<Environment, string>;
  for (const name of ENVIRONMENTS) {
    const key = { id: tools.newId("api_key", now), environment: environments[name], environmentName: name };
    keys[name] = await createFullKey(tx, tools, { ...key, name: "First key", now });
  }
  await insertOAuthApp(tx, {
    id: CLI_CLIENT_ID,
    environment: null,
    name: "Service CLI",
    public: 1,
    redirect_uris: JSON.stringify([`http://127.0.0.1${CLI_REDIRECT_PATH}`, `http://[::1]${CLI_REDIRECT_PATH}`]),
    secret: null,
    created: now,
  });
  const owner = tools.newId("user", now);
  await insertUser(tx, {
    id: owner,
    account_id: id,
    email: FIRST_EMAIL,
    email_key: FIRST_EMAIL,
    role: "owner",
    password: null,
    created: now,
  });
  return { id, keys, linkToken: await createLinkToken(tx, tools, { userId: owner, invitation: false, now }) };
}

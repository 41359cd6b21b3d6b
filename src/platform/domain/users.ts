import type { IdGenerator } from "../../contract/ids.ts";
import type { DeletedUser, User } from "../../contract/schemas/account.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError, assertId, missing } from "./api-error.ts";
import { type SecretTools, toApiKey } from "./api-keys.ts";
import type { Tenant } from "./request-context.ts";
import type { Clock } from "../ports.ts";
import { usableKeysOfUser } from "../storage/api-keys.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { deleteLinksOfUser, insertSignInLink } from "../storage/sessions.ts";
import { deleteMember, findUserByEmail, insertUser, type UserRow, usersOfAccount } from "../storage/accounts.ts";

export async function listUsers(queries: Queries, { account }: Tenant, you: string, now: number): Promise<User[]> {
  const rows = await usersOfAccount(queries, account.id);
  return rows.map((row) => {
    const until = row.invited_until ?? 0;
    return toUser(row, you, until > now ? until : null);
  });
}

/** Dependencies for creating an invitation. */
export interface InviteTools extends SecretTools {
  clock: Clock;
  newId: IdGenerator;
  /** Returns the API's origin as clients see it, without a trailing slash. */
  baseUrl: () => string;
}

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
    const errors = [{ pointer: "/email", code: "taken", detail: "another user has this email address" }];
    throw new ApiError("email_taken", "Another user has that email address.", { members: { errors } });
  }
  if (!isNew) await deleteLinksOfUser(tx, row.id);
  const token = await createLinkToken(tx, tools, { userId: row.id, invitation: true, now });
  const user = toUser(row, "", now + INVITATION_SECONDS * 1000);
  return { ...user, invitation_url: `${tools.baseUrl()}/invitation?token=${token}` };
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
  link: { userId: string; invitation: boolean; now: number },
): Promise<string> {
  const token = Buffer.from(random.bytes(32)).toString("base64url");
  const seconds = link.invitation ? INVITATION_SECONDS : SIGN_IN_LINK_SECONDS;
  await insertSignInLink(tx, {
    digest: vault.digest(token),
    user_id: link.userId,
    invitation: link.invitation ? 1 : 0,
    created: link.now,
    expires_at: link.now + seconds * 1000,
  });
  return token;
}

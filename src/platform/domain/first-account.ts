import { type Environment, ENVIRONMENTS } from "../../contract/environments.ts";
import type { IdGenerator } from "../../contract/ids.ts";
import { CLI_CLIENT_ID, CLI_REDIRECT_PATH } from "../../contract/scopes.ts";
import { createFullKey, type SecretTools } from "./api-keys.ts";
import { createLinkToken } from "./users.ts";
import { firstAccount, insertAccount, insertUser } from "../storage/accounts.ts";
import type { Transaction } from "../storage/database.ts";
import { insertOAuthApp } from "../storage/oauth-apps.ts";

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
  tools: SecretTools & { newId: IdGenerator; version: string },
  now: number,
): Promise<FirstAccount | undefined> {
  if ((await firstAccount(tx)) !== undefined) return undefined;
  const id = tools.newId("account", now);
  const environments = await insertAccount(tx, { id, name: "Default account", version: tools.version, created: now });
  const keys = {} as Record<Environment, string>;
  for (const name of ENVIRONMENTS) {
    keys[name] = await createFullKey(tx, tools, {
      id: tools.newId("api_key", now),
      environment: environments[name],
      environmentName: name,
      name: "First key",
      now,
    });
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

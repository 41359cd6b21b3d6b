import { ENVIRONMENTS, type Environment } from "../../contract/environments.ts";
import type { IdGenerator } from "../../contract/ids.ts";
import { LATEST_VERSION } from "../../contract/versions.ts";
import type { Random } from "../ports.ts";
import { firstAccount, insertAccount } from "../storage/accounts.ts";
import type { Transaction } from "../storage/database.ts";
import type { Vault } from "../vault.ts";
import { createFullKey } from "./api-keys.ts";

/** What an empty database was given, shown once. */
export interface FirstAccount {
  id: string;
  keys: Record<Environment, string>;
}

/** Gives an empty database its account with a full key for each environment; undefined where there is one already. */
export async function createFirstAccount(
  tx: Transaction,
  tools: { vault: Vault; random: Random; newId: IdGenerator },
  now: number,
): Promise<FirstAccount | undefined> {
  if ((await firstAccount(tx)) !== undefined) return undefined;
  const id = tools.newId("account", now);
  const environments = await insertAccount(tx, { id, name: "Default account", version: LATEST_VERSION, created: now });
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
  return { id, keys };
}

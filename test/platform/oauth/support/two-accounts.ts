import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createIdGenerator } from "../../../../src/contract/ids.ts";
import { LATEST_VERSION } from "../../../../src/contract/versions.ts";
import { createFullKey } from "../../../../src/platform/domain/api-keys.ts";
import { createFirstAccount, createLinkToken } from "../../../../src/platform/domain/users.ts";
import { createVault, loadMasterKeyFile } from "../../../../src/platform/security/vault.ts";
import type { PlatformSettings } from "../../../../src/platform/start.ts";
import { insertAccount, insertUser } from "../../../../src/platform/storage/accounts.ts";
import { MIGRATIONS } from "../../../../src/platform/storage/migrations/index.ts";
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { systemRandom } from "../../../../src/platform/ports.ts";
import { type EmbeddedPlatform, startEmbedded } from "./embedded-platform.ts";

/** One of the platform's two accounts. */
export interface PreparedAccount {
  id: string;
  sandboxKey: string;
  liveKey: string;
  signInUrl: string;
}

/**
 * Starts a platform with two accounts, each with an owner and full-access keys. The second owner's password has the
 * given hash.
 */
export async function startWithTwoAccounts({
  password = null,
  ...settings
}: Partial<PlatformSettings> & { password?: string | null } = {}): Promise<{
  platform: EmbeddedPlatform;
  accounts: [PreparedAccount, PreparedAccount];
}> {
  const folder = mkdtempSync(join(tmpdir(), "service-accounts-"));
  const file = join(folder, "platform.db");
  const now = Date.now();
  const newId = createIdGenerator((size) => systemRandom.bytes(size));
  const tools = { vault: createVault(loadMasterKeyFile(`${file}.key`), systemRandom), random: systemRandom, newId };
  const database = await openSqlite({ file, migrations: MIGRATIONS });
  const prepared = await database.write(async (tx) => {
    const first = (await createFirstAccount(tx, { ...tools, version: LATEST_VERSION }, now))!;
    const id = newId("account", now);
    const environments = await insertAccount(tx, { id, name: "Other account", version: LATEST_VERSION, created: now });
    const key = (environment: "live" | "sandbox") =>
      createFullKey(tx, tools, {
        id: newId("api_key", now),
        environment: environments[environment],
        environmentName: environment,
        name: "Key",
        now,
      });
    const owner = newId("user", now);
    const email = "owner@other.example";
    await insertUser(tx, {
      id: owner,
      account_id: id,
      email,
      email_key: email,
      role: "owner",
      password,
      created: now,
    });
    const linkToken = await createLinkToken(tx, tools, { userId: owner, invitation: false, now });
    return [first, { id, keys: { live: await key("live"), sandbox: await key("sandbox") }, linkToken }] as const;
  });
  await database.close();
  const platform = await startEmbedded({ folder, ...settings });
  const asPrepared = ({ id, keys, linkToken }: (typeof prepared)[number]): PreparedAccount => ({
    id,
    sandboxKey: keys.sandbox,
    liveKey: keys.live,
    signInUrl: `${platform.baseUrl}/sign-in/link?token=${linkToken}`,
  });
  return { platform, accounts: [asPrepared(prepared[0]), asPrepared(prepared[1])] };
}

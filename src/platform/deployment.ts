import { existsSync } from "node:fs";
import { createIdGenerator } from "../contract/ids.ts";
import { DatabaseClock } from "./time/database-clock.ts";
import { assertMasterKey, createVault, hasMasterKey, loadMasterKeyFile, parseMasterKey } from "./security/vault.ts";
import { MasterKeyError } from "./errors.ts";
import { hasUnfinishedCopy } from "./maintenance/copy.ts";
import type { Clock } from "./ports.ts";
import { type Database, isPostgresUrl, StorageOpenError } from "./storage/database.ts";
import { alignLog } from "./storage/event-log.ts";
import { type DatabaseSettings, openDatabase } from "./storage/open-database.ts";
import { findSetting, insertSetting, TRUSTED_TIME_SETTING } from "./storage/settings.ts";
import type { With } from "./tools.ts";

export interface DeploymentSettings extends DatabaseSettings {
  /** 32 bytes in hex or base64. */
  masterKey?: string | undefined;
  /** Path of the master key file if no key is given (default: next to the SQLite file). */
  masterKeyFile?: string | undefined;
}

/** What all processes of a deployment share, as opened by this one. */
export type Deployment = Awaited<ReturnType<typeof openDeployment>>;

/** Opens database and secrets. Rejects with StorageOpenError, MasterKeyError. */
export async function openDeployment(
  settings: DeploymentSettings,
  { machine, random }: With<"random"> & { machine: Clock },
) {
  const database = await openDatabase(settings);
  try {
    if (await hasUnfinishedCopy(database)) {
      const advice = "Run the same `service db copy` again: it continues where it stopped.";
      throw new StorageOpenError("incomplete", `Only a part of another database was copied into this one. ${advice}`);
    }
    const vault = createVault(await masterKeyOf(settings, database), random);
    await assertMasterKey(database, vault);
    const shared = database.dialect === "postgres" ? new DatabaseClock(machine, database, settings.log) : undefined;
    await shared?.start();
    await alignLog(database);
    const clock = shared ?? machine;
    const lastTrusted = await findSetting(database, TRUSTED_TIME_SETTING);
    // Retention updates it later. Before that first run, the clock may be set or the process end.
    const now = Buffer.from(String(clock.now()));
    if (lastTrusted === undefined) await database.write((tx) => insertSetting(tx, TRUSTED_TIME_SETTING, now));
    return {
      database,
      vault,
      clock,
      newId: createIdGenerator((size) => random.bytes(size)),
      /** When the clock was last trusted, in Unix milliseconds; undefined if it never was. */
      lastTrusted: lastTrusted && Number(Buffer.from(lastTrusted).toString()),
      async close() {
        shared?.stop();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function masterKeyOf(settings: DeploymentSettings, database: Database): Promise<Buffer> {
  if (settings.masterKey !== undefined) return parseMasterKey(settings.masterKey);
  const file = settings.masterKeyFile ?? (isPostgresUrl(settings.database) ? undefined : `${settings.database}.key`);
  if (file === undefined) throw new MasterKeyError("Set SERVICE_MASTER_KEY, or pass --master-key-file.");
  // A key created here would soon be rejected, and later be mistaken for the right one.
  if (!existsSync(file) && (await hasMasterKey(database))) {
    throw new MasterKeyError(
      `The database has a master key already, but ${file} does not exist: pass that key to this process ` +
        "(SERVICE_MASTER_KEY, or --master-key-file).",
    );
  }
  return loadMasterKeyFile(file);
}

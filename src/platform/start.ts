import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Activity } from "./activity.ts";
import { createIdGenerator } from "../contract/ids.ts";
import { createFirstAccount, type FirstAccount } from "./domain/first-account.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { createApp } from "./http/app.ts";
import { createListenServer } from "./listen/server.ts";
import { assertMasterKey, loadMasterKeyFile, parseMasterKey } from "./master-key.ts";
import type { Clock, Log, Random } from "./ports.ts";
import type { Services } from "./services.ts";
import { MIGRATIONS } from "./storage/migrations/index.ts";
import { openSqlite } from "./storage/sqlite.ts";
import { systemClock, systemRandom } from "./system.ts";
import { createVault } from "./vault.ts";

/** How long a stop waits for requests in flight. */
const DRAIN_SECONDS = 10;

export interface PlatformSettings {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** SQLite file; its master key lies beside it unless one is given. */
  database: string;
  /** 32 bytes in hex or base64. */
  masterKey?: string | undefined;
  /** This program's version, kept with the migrations that it ran. */
  version: string;
  log: Log;
  report: (activity: Activity) => void;
  clock?: Clock;
  random?: Random;
}

export interface Platform {
  baseUrl: string;
  /** Set where the database was empty: its first account and keys, never shown again. */
  firstAccount: FirstAccount | undefined;
  /** Takes nothing new, finishes what is in flight, closes the database. */
  close(): Promise<void>;
}

/** Starts the platform: configuration, database, domain, HTTP. Rejects with StorageOpenError, MasterKeyError or the listen error. */
export async function startPlatform(settings: PlatformSettings): Promise<Platform> {
  const clock = settings.clock ?? systemClock;
  const random = settings.random ?? systemRandom;
  const newId = createIdGenerator((size) => random.bytes(size));
  const database = await openSqlite({
    file: settings.database,
    migrations: MIGRATIONS,
    version: settings.version,
    log: settings.log,
  });
  try {
    const masterKey =
      settings.masterKey === undefined
        ? loadMasterKeyFile(`${settings.database}.key`)
        : parseMasterKey(settings.masterKey);
    const vault = createVault(masterKey, random);
    await assertMasterKey(database, vault);
    const firstAccount = await database.write((tx) => createFirstAccount(tx, { vault, random, newId }, clock.now()));

    const services: Services = {
      database,
      vault,
      clock,
      random,
      newId,
      log: settings.log,
      report: settings.report,
      baseUrl: "",
    };
    const authenticate = createAuthenticate(database, vault, clock.now);
    const app = createApp(services, authenticate);
    const listening = createListenServer(app.server, services, authenticate);
    await app.listen({ host: settings.host, port: settings.port });
    const { address, port, family } = app.server.address() as AddressInfo;
    services.baseUrl = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
    return {
      baseUrl: services.baseUrl,
      firstAccount,
      async close() {
        await listening.close();
        await closeServer(app);
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Lets requests in flight end, for as long as a stop may take; then cuts what is left. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_SECONDS * 1000);
  await app.close();
  clearTimeout(cut);
}

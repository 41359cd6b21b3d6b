import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { API_VERSIONS } from "../contract/versions.ts";
import { removeAdminFile, signInUrl, writeAdminFile } from "./admin.ts";
import { openDeployment } from "./deployment.ts";
import { createFirstAccount, type FirstAccount } from "./domain/users.ts";
import { Versions } from "./domain/versions.ts";
import { assembleParts, type Parts, stopParts } from "./parts.ts";
import type { PlatformSettings } from "./settings.ts";
import { PUBLIC_URL_SETTING, putSetting } from "./storage/settings.ts";
import { systemClock, systemRandom } from "./ports.ts";

export type { PlatformSettings } from "./settings.ts";

export interface Platform {
  baseUrl: string;
  /** The address that this process listens on. */
  listenUrl: string;
  /** Set if the database was empty: its first account and keys, never shown again. */
  firstAccount: (Omit<FirstAccount, "linkToken"> & { signInUrl: string }) | undefined;
  /**
   * Reports that it is no longer ready and, after some seconds in which a load balancer can notice, accepts nothing
   * new, finishes what is in flight and closes the database.
   */
  close(delaySeconds?: number): Promise<void>;
}

/**
 * Starts the platform: configuration, database, domain, HTTP. Rejects with StorageOpenError, MasterKeyError,
 * SigningKeysError or the listen error.
 */
export async function startPlatform(settings: PlatformSettings): Promise<Platform> {
  const versions = new Versions(settings.versions ?? API_VERSIONS);
  const deployment = await openDeployment(settings, {
    machine: settings.clock ?? systemClock,
    random: systemRandom,
  });
  try {
    const parts = await assembleParts(deployment, settings, { random: systemRandom, versions });
    try {
      return await run(parts, settings, versions.latest);
    } catch (error) {
      // A process that could not start must not keep listening.
      await stopParts(parts);
      throw error;
    }
  } catch (error) {
    await deployment.close();
    throw error;
  }
}

/** Opens the port, then starts background work. An empty database gets its first account. */
async function run(parts: Parts, settings: PlatformSettings, version: string): Promise<Platform> {
  const { app, address, engine, retention, countFolder, transactions, adminToken } = parts;
  const { database, clock } = parts.deployment;
  await app.listen({ host: settings.host, port: settings.port });
  const { address: host, port, family } = app.server.address() as AddressInfo;
  const listenUrl = `http://${family === "IPv6" ? `[${host}]` : host}:${port}`;
  address.baseUrl = settings.publicUrl ?? listenUrl;
  transactions.start();
  if (settings.role !== "api") {
    await engine.start();
    retention.start();
    countFolder.start();
  }
  const hasAdminFile = database.dialect === "sqlite";
  if (!hasAdminFile && settings.role !== "worker") {
    await database.write((tx) => putSetting(tx, PUBLIC_URL_SETTING, Buffer.from(address.baseUrl)));
  }
  if (hasAdminFile) writeAdminFile(settings.database, { url: localUrl(listenUrl), token: adminToken });
  // Its keys are shown once, so a start that fails must not create it.
  const tools = { ...parts.deployment, random: systemRandom, version };
  const firstAccount = await database.write((tx) => createFirstAccount(tx, tools, clock.now()));
  return {
    baseUrl: address.baseUrl,
    listenUrl,
    firstAccount: firstAccount && {
      id: firstAccount.id,
      keys: firstAccount.keys,
      signInUrl: signInUrl(address.baseUrl, firstAccount.linkToken),
    },
    async close(delaySeconds = 0) {
      parts.health.isStopping = true;
      if (delaySeconds > 0) await setTimeout(delaySeconds * 1000);
      if (hasAdminFile) removeAdminFile(settings.database);
      await stopParts(parts);
    },
  };
}

/** A server on all addresses is reached by a loopback address. */
function localUrl(baseUrl: string): string {
  return baseUrl.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

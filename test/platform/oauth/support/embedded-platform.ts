import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll } from "vitest";
import type { PasswordCost } from "../../../../src/platform/domain/passwords.ts";
import { type Clock, systemClock } from "../../../../src/platform/ports.ts";
import { type Platform, type PlatformSettings, startPlatform } from "../../../../src/platform/start.ts";

/** A cheap hash; one at full strength takes 200 ms. */
const CHEAP: PasswordCost = { logN: 4, r: 8, p: 1 };

/** The real platform in this process, with its own database and a clock that only tests advance. */
export interface EmbeddedPlatform {
  baseUrl: string;
  /** The server's own URL if clients use another. */
  listenUrl: string;
  /** The database's file. */
  database: string;
  sandboxKey: string;
  liveKey: string;
  /** Signs the owner in once. */
  signInUrl: string;
  account: string;
  /** The lines of the platform's log. */
  logged: string[];
  /** The platform's time. */
  now(): number;
  /** Advances the platform's clock. */
  advance(milliseconds: number): void;
  close(): Promise<void>;
}

/** Starts it. `database` names an existing database. */
export async function startEmbedded(
  settings: Partial<PlatformSettings> & { folder?: string } = {},
): Promise<EmbeddedPlatform> {
  const folder = settings.folder ?? mkdtempSync(join(tmpdir(), "service-oauth-"));
  const database = join(folder, "platform.db");
  let ahead = 0;
  const started = systemClock.now();
  const clock: Clock = {
    now: () => started + ahead,
    elapsed: () => ahead,
    uptime: () => ahead,
    after: (delay, callback) => systemClock.after(delay, callback),
  };
  const logged: string[] = [];
  const line = (fields: Record<string, unknown>, message: string) => {
    logged.push(JSON.stringify({ message, ...fields, err: inspect(fields["err"]) }));
  };
  const platform: Platform = await startPlatform({
    host: "127.0.0.1",
    port: 0,
    database,
    version: "0.0.0",
    log: { debug() {}, info() {}, warn: line, error: line },
    report() {},
    clock,
    passwordCost: CHEAP,
    ...settings,
  });
  // What tests create is newer than the first account.
  ahead += 1;
  const { firstAccount } = platform;
  return {
    baseUrl: platform.baseUrl,
    listenUrl: platform.listenUrl,
    database,
    sandboxKey: firstAccount?.keys.sandbox ?? "",
    liveKey: firstAccount?.keys.live ?? "",
    signInUrl: firstAccount?.signInUrl ?? "",
    account: firstAccount?.id ?? "",
    logged,
    now: clock.now,
    advance(milliseconds) {
      ahead += milliseconds;
    },
    async close() {
      await platform.close();
      if (settings.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts it before the tests of a file and closes it afterwards. Call it at the top of the file. */
export function embeddedPlatform(...settings: Parameters<typeof startEmbedded>): EmbeddedPlatform {
  let platform: EmbeddedPlatform;
  beforeAll(async () => {
    platform = await startEmbedded(...settings);
  });
  afterAll(() => platform.close());
  return new Proxy({} as EmbeddedPlatform, { get: (_target, name) => Reflect.get(platform, name) as unknown });
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Activity } from "../../../../src/platform/observability/activity.ts";
import { type Platform, type PlatformSettings, startPlatform } from "../../../../src/platform/start.ts";
import { type Api, apiOf } from "../../../support/api.ts";

/** The platform in this process, with its own database file. */
export interface HostedPlatform {
  baseUrl: string;
  /** The database's file. */
  database: string;
  api: Api;
  live: Api;
  sandboxKey: string;
  activities: Activity[];
  /** Its logged warnings and errors. */
  complaints: string[];
  /** Restarts it with the same file. */
  restart(settings?: Partial<PlatformSettings>): Promise<void>;
  /** Stops it and keeps its file. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it. Private targets are allowed unless the settings forbid them. */
export async function hostPlatform(settings: Partial<PlatformSettings> = {}): Promise<HostedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "service-delivery-"));
  const activities: Activity[] = [];
  const complaints: string[] = [];
  const complain = (_fields: object, message: string) => complaints.push(message);
  const start = (more: Partial<PlatformSettings>) =>
    startPlatform({
      host: "127.0.0.1",
      port: 0,
      database: join(folder, "platform.db"),
      version: "test",
      log: { debug: () => {}, info: () => {}, warn: complain, error: complain },
      report: (activity) => activities.push(activity),
      allowPrivateTargets: true,
      ...settings,
      ...more,
    });
  let platform: Platform = await start({});
  const { sandbox, live } = platform.firstAccount!.keys;
  const hosted: HostedPlatform = {
    baseUrl: platform.baseUrl,
    database: join(folder, "platform.db"),
    api: apiOf(platform.baseUrl, sandbox),
    live: apiOf(platform.baseUrl, live),
    sandboxKey: sandbox,
    activities,
    complaints,
    async restart(more = {}) {
      await platform.close();
      platform = await start(more);
      hosted.baseUrl = platform.baseUrl;
      hosted.api = apiOf(platform.baseUrl, sandbox);
      hosted.live = apiOf(platform.baseUrl, live);
    },
    stop: () => platform.close(),
    async close() {
      await platform.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return hosted;
}

/** Starts it before the tests of a file and closes it afterwards. Call it at the top of the file. */
export function hostedPlatform(...settings: Parameters<typeof hostPlatform>): HostedPlatform {
  let platform: HostedPlatform;
  beforeAll(async () => {
    platform = await hostPlatform(...settings);
  });
  afterAll(() => platform.close());
  return new Proxy({} as HostedPlatform, { get: (_target, name) => Reflect.get(platform, name) as unknown });
}

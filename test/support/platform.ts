import { existsSync, readFileSync } from "node:fs";
import { type Api, apiOf } from "./api.ts";
import { createConfigDir } from "./run-cli.ts";
import { type RunningCommand, spawnCommand, type SpawnOptions, startCommand } from "./running-command.ts";

/** The first line of `service serve --json`. */
export interface ReadyLine {
  event: "ready";
  base_url: string;
  /** Present if the platform listens, or if clients use another URL. */
  listen_url?: string;
  auth_url: string;
  dashboard_url: string;
  database: string;
  version: string;
  account: string;
  sandbox_key: string;
  live_key: string;
  sign_in_url?: string;
  /** Present if the keys and the link are stored there, and not in the line itself. */
  credentials_file?: string;
}

/** The real platform. */
export interface ServedPlatform {
  /** The URL that clients use. */
  baseUrl: string;
  /** The URL of the process itself, without a proxy. */
  listenUrl: string;
  authUrl: string;
  sandboxKey: string;
  liveKey: string;
  /** Calls its API with the sandbox key. */
  api: Api;
  ready: ReadyLine;
  /** The lines that it has printed after the first one. */
  lines: string[];
  /** The environment variables that the CLI needs to use it, with a shared settings folder. */
  env: Record<string, string>;
  /** Stops it like SIGTERM. Resolves with its exit code. */
  stop(): RunningCommand["ended"];
}

/** A platform in a separate process. */
export interface RunningPlatform extends ServedPlatform {
  pid: number;
  /** Kills it with SIGKILL, like a crash. */
  kill(): Promise<void>;
}

/** Tests send more requests than the default rate limit allows. */
const UNLIMITED = ["--rate-limit", "0"];
const SERVE = ["serve", "--json", "--allow-private-targets"];
/** The master key that the processes on one database share. */
const MASTER_KEY = "5a".repeat(32);

/** Starts `service serve` with a database file that outlives it. */
export function startPlatformOn(database: string, port = 0, env: Record<string, string> = {}) {
  return launch(["--database", database, "--port", String(port), ...UNLIMITED], { env });
}

/**
 * Starts `service serve --ephemeral` on a free port, and resolves once it accepts requests. `limits` is a shell command
 * that runs first, such as `ulimit -n 64`.
 */
export function startPlatform(args: readonly string[] = [], limits?: string): Promise<RunningPlatform> {
  return launch(ephemeral(args), { limits });
}

/** Starts the same in this process, for tests that neither kill nor inspect the process. */
export const servePlatform = (args: readonly string[] = []): Promise<ServedPlatform> => serve(ephemeral(args));

/** The same with a database file that outlives it. */
export const servePlatformOn = (database: string, port = 0): Promise<ServedPlatform> =>
  serve(["--database", database, "--port", String(port), ...UNLIMITED]);

/** Starts one of several processes on a database, on a free port unless the flags name one. `limits` as above. */
export function startNode(
  database: string,
  args: readonly string[] = [],
  masterKey = MASTER_KEY,
  env: Record<string, string> = {},
  limits?: string,
) {
  return launch(onFreePort(args), { env: { ...env, ...onDatabase(database, masterKey) }, limits });
}

/** Makes this process one of those on a database. */
export const serveNode = (database: string, args: readonly string[] = []): Promise<ServedPlatform> =>
  serve(onFreePort(args), onDatabase(database));

const onDatabase = (database: string, masterKey = MASTER_KEY) => ({
  SERVICE_DATABASE: database,
  SERVICE_MASTER_KEY: masterKey,
});
const onFreePort = (args: readonly string[]) => [
  ...(args.includes("--port") ? [] : ["--port", "0"]),
  ...(args.includes("--rate-limit") ? [] : UNLIMITED),
  ...args,
];
const ephemeral = (args: readonly string[]) => ["--ephemeral", ...onFreePort(args)];

async function launch(flags: readonly string[], options: SpawnOptions): Promise<RunningPlatform> {
  const command = spawnCommand([...SERVE, ...flags], options);
  return { ...(await served(command)), pid: command.pid, kill: command.kill };
}

const serve = (flags: readonly string[], env?: Record<string, string>): Promise<ServedPlatform> =>
  served(startCommand([...SERVE, ...flags], { env }));

async function served(command: RunningCommand): Promise<ServedPlatform> {
  const { lines } = command;
  const ready = withCredentials((await command.record(({ event }) => event === "ready")) as unknown as ReadyLine);
  lines.shift();
  return {
    baseUrl: ready.base_url,
    listenUrl: ready.listen_url ?? ready.base_url,
    authUrl: ready.auth_url,
    sandboxKey: ready.sandbox_key,
    liveKey: ready.live_key,
    api: apiOf(ready.base_url, ready.sandbox_key),
    ready,
    lines,
    env: {
      SERVICE_BASE_URL: ready.base_url,
      SERVICE_API_KEY: ready.sandbox_key,
      SERVICE_CONFIG_DIR: createConfigDir(),
    },
    stop: () => command.interrupt("SIGTERM"),
  };
}

/** Adds the contents of the credentials file to the first line; at later starts, which do not name it, the keys. */
export function withCredentials<Ready extends Partial<ReadyLine>>(ready: Ready): Ready {
  const { credentials_file: file = `${ready.database}.credentials` } = ready;
  if (!existsSync(file)) return ready;
  const content = JSON.parse(readFileSync(file, "utf8")) as Ready;
  const { sandbox_key, live_key } = content;
  return { ...(ready.credentials_file === undefined ? { sandbox_key, live_key } : content), ...ready };
}

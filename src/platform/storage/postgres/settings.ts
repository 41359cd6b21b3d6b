import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ClientConfig } from "pg";
import { describeDatabase, StorageOpenError } from "../database.ts";
import { PostgresConnection } from "./connection.ts";
import { asOpenError } from "./errors.ts";

export interface ConnectionSettings {
  /** `postgres://user:password@host:port/database?…`, with libpq's parameters. */
  readonly url: string;
  /** Maximum number of connections of this process, besides one for notifications. */
  readonly connections?: number | undefined;
  /** Maximum duration of a statement, in milliseconds. */
  readonly statementMilliseconds?: number | undefined;
  /** A file with CA certificates for the server, instead of the system's. */
  readonly authorities?: string | undefined;
}

const STATEMENT_MILLISECONDS = 5_000;
const CONNECT_MILLISECONDS = 5_000;
/** A transaction whose process has hung for this long is ended: others may wait for its rows. */
const IDLE_MILLISECONDS = 10_000;
/**
 * Every statement here finds its rows by an index. The planner must not conclude otherwise because a table was small
 * when it last looked, and compiling a plan that reads a handful of rows is not worthwhile.
 */
const PLANNING = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off";
const TLS_PARAMETERS = ["sslmode", "sslrootcert", "sslcert", "sslkey"];
const LOOPBACK = new Set(["", "localhost", "127.0.0.1", "[::1]"]);

/** Returns the client library's configuration. Throws StorageOpenError if the URL cannot be used. */
export function readUrl(settings: ConnectionSettings): {
  name: string;
  config: ClientConfig;
  statementMilliseconds: number;
} {
  const url = parse(settings.url);
  const ssl = tlsOf(url, settings.authorities);
  const statementMilliseconds = settings.statementMilliseconds ?? STATEMENT_MILLISECONDS;
  const config: ClientConfig = {
    connectionString: withoutOwnParameters(url),
    options: `${url.searchParams.get("options") ?? ""} ${PLANNING}`.trim(),
    ssl,
    application_name: url.searchParams.get("application_name") ?? "service",
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: IDLE_MILLISECONDS,
  };
  return { name: describeDatabase(settings.url), config, statementMilliseconds };
}

/** Returns the URL without the parameters that are parsed here instead of by the client library. */
function withoutOwnParameters(url: URL): string {
  const rest = new URL(url);
  for (const name of [...TLS_PARAMETERS, "options"]) rest.searchParams.delete(name);
  return rest.href;
}

/**
 * Returns the URL for PostgreSQL's own programs, which must protect the connection as this one does: their defaults
 * differ.
 * The password is separate, since everyone on the machine can see a program's arguments.
 */
export function readUrlForPrograms(settings: ConnectionSettings): { url: string; password: string | undefined } {
  const url = parse(settings.url);
  const password = decodeURIComponent(url.password) || url.searchParams.get("password") || undefined;
  url.password = "";
  url.searchParams.delete("password");
  url.searchParams.set("sslmode", tlsModeOf(url));
  if (settings.authorities !== undefined) url.searchParams.set("sslrootcert", resolve(settings.authorities));
  // Its parameters do not decode a plus sign as a space.
  url.search = url.search.replaceAll("+", "%20");
  return { url: url.href, password };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    const message = "The database's URL cannot be read: postgres://USER:PASSWORD@HOST:5432/DATABASE";
    throw new StorageOpenError("unreachable", message, { cause });
  }
}

/** The default without one of libpq's modes: no TLS on this machine, and a verified certificate anywhere else. */
function tlsModeOf({ hostname, searchParams }: URL): string {
  const host = searchParams.get("host") ?? hostname;
  return searchParams.get("sslmode") ?? (LOOPBACK.has(host) || host.startsWith("/") ? "disable" : "verify-full");
}

function tlsOf(url: URL, authorities: string | undefined): ClientConfig["ssl"] {
  const given = (name: string) => url.searchParams.get(name) ?? undefined;
  const mode = tlsModeOf(url);
  const named = authorities ?? given("sslrootcert");
  // libpq's name for the system's CA certificates: here those of Node.js.
  const file = named === "system" ? undefined : named;
  const read = (path: string | undefined) => (path === undefined ? undefined : readPem(path));
  const files = { ca: read(file), cert: read(given("sslcert")), key: read(given("sslkey")) };
  const known = Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined));
  switch (mode) {
    case "disable":
      return false;
    case "require":
      // Encrypts without verifying the server. If a CA is named, it is verified, as libpq does.
      return { ...known, rejectUnauthorized: named !== undefined, checkServerIdentity: () => undefined };
    case "verify-ca":
      return { ...known, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case "verify-full":
      return { ...known, rejectUnauthorized: true };
    default:
      throw new StorageOpenError(
        "unreachable",
        `sslmode=${mode} is not supported: use verify-full, verify-ca, require or disable.`,
      );
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new StorageOpenError("unreachable", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the schema of a URL's tables. Throws StorageOpenError if the database cannot be reached. */
export async function schemaNameOf(settings: ConnectionSettings): Promise<string | null> {
  const { name, config } = readUrl(settings);
  try {
    const connection = await PostgresConnection.open(config, () => performance.now());
    const { rows } = await connection.execute("SELECT CAST(current_schema() AS TEXT) AS schema");
    await connection.close();
    return (rows[0] as { schema: string | null }).schema;
  } catch (error) {
    throw asOpenError(error, name);
  }
}

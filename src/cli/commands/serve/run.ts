import { parseJson } from "../../../contract/json.ts";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFolder } from "../../../files/folders.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { type AddressRange, parseRange } from "../../../network/addresses.ts";
import { isLoopback } from "../../../network/connect-options.ts";
import { parseUrl } from "../../../network/parse-url.ts";
import {
  describeDatabase,
  type FileCheck,
  isPostgresUrl,
  type LogLevel,
  type Platform,
  type PlatformSettings,
  SigningKeysError,
  startPlatform,
} from "../../../platform/index.ts";
import type { Context } from "../../context.ts";
import { InterruptedError, orAborted, UsageError, UserError } from "../../errors.ts";
import { readRegularFile } from "../../project/safe-files.ts";
import { databaseOf, keepPort, projectWithPlatform, startPortOf } from "../../project/platform.ts";
import { PROJECT_DEFAULTS } from "../../project/file.ts";
import type { Project } from "../../project/schema.ts";
import { createTemporaryFolder } from "../../temporary-folder.ts";
import { offerDriver } from "../../database/driver.ts";
import { replaceDurably } from "../../../files/replace.ts";
import type { PostgresOptions } from "../../database/options.ts";
import {
  databaseError,
  defaultKeyFile,
  deploymentSettings,
  isDefaultDatabase,
  namedDatabase,
  noteNewFolder,
} from "../../database/settings.ts";
import { portOwner } from "../../process/port-owner.ts";
import { createReporter, type FirstCredentials, type Reporter } from "./reporter.ts";

interface ServeOptions extends PostgresOptions {
  /** The default is that of the project file in the working folder, or 4010. */
  port?: number;
  host: string;
  database?: string;
  allowPrivateTargets: boolean;
  ephemeral: boolean;
  leakKeys?: string;
  /** Requests a second; 0 sets no limit. */
  rateLimit: number;
  rateBurst?: number;
  logLevel: LogLevel;
  role: "all" | "api" | "worker";
  publicUrl?: string;
  trustProxy: string[];
  contact?: string;
  /** Seconds. */
  requestTimeout: number;
  /** Seconds. */
  drainDelay: number;
}

const NOT_WRITABLE = "Choose another location with --database, or use a temporary database: --ephemeral.";
/** A start that takes longer is reported. */
const SLOW_START_MILLISECONDS = 2000;
/** About 5,000 lines. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Runs until a signal or a closed stdout, then completes work in flight. Exits with 0, after SIGHUP with 129. */
export async function runServe(context: Context, options: ServeOptions): Promise<void> {
  if (options.ephemeral && options.database !== undefined) {
    throw new UsageError("--ephemeral cannot be combined with --database");
  }
  rejectPublicHost(options, context);
  if (!isPostgresUrl(options.database ?? context.env["SERVICE_DATABASE"] ?? "")) await offerDriver(context);
  const folder = options.ephemeral ? createTemporaryFolder("service-") : undefined;
  const database = folder === undefined ? namedDatabase(options, context) : join(folder, "platform.db");
  if (options.database !== undefined) noteNewFolder(database, context);
  const project = projectServed(database, context);
  const port =
    options.port ?? (project === undefined ? PROJECT_DEFAULTS.port : await startPortOf(project, context.projectFolder));
  const reporter = await createReporter(context, options.logLevel);
  const settle = await context.stdout.makeNonBlocking({
    omitted: (lines) => reporter.omitted(lines),
    maxBytes: MAX_UNREAD_BYTES,
  });
  try {
    const platform = await start({ ...options, port }, context, database, reporter);
    try {
      const credentials = firstCredentials(platform, database, options, context);
      if (credentials === undefined && !isPostgresUrl(database)) await updateCredentialsFile(database, platform);
      if (project !== undefined) keepPort(project, platform.baseUrl, context.projectFolder);
      const place = options.ephemeral ? "ephemeral" : describeDatabase(database);
      await reporter.ready(platform, place, credentials, exactLinkCommand(database, context));
      await orAborted(new Promise<never>(() => {}), context.signal).catch((reason: unknown) => {
        if (!(reason instanceof InterruptedError) || reason.signal === "SIGHUP") throw reason;
      });
    } finally {
      reporter.stopping();
      await platform.close(options.drainDelay);
    }
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    await settle();
  }
}

/** Returns the project if the database is the one of its platform. */
function projectServed(database: string, { projectFolder }: Context): Project | undefined {
  const project = projectWithPlatform(projectFolder);
  return project !== undefined && databaseOf(project, projectFolder) === database ? project : undefined;
}

/**
 * Returns the keys and sign-in link of the first account if they are temporary or stdout is a terminal. Otherwise
 * stdout may be a log, so they are written to a file that only its owner can read.
 */
function firstCredentials(
  { baseUrl, firstAccount }: Platform,
  database: string,
  options: ServeOptions,
  context: Context,
): FirstCredentials | undefined {
  if (firstAccount === undefined) return undefined;
  const { id: account, keys, signInUrl } = firstAccount;
  const shown = { account, sandbox_key: keys.sandbox, live_key: keys.live, sign_in_url: signInUrl };
  if (options.ephemeral) return { ...shown, temporary_folder: dirname(database) };
  if (context.output.terminal) return shown;
  const file = isPostgresUrl(database)
    ? join(dirname(options.masterKeyFile ?? defaultKeyFile(context)), `${account}.credentials`)
    : `${database}.credentials`;
  try {
    createFolder(dirname(file));
    rmSync(file, { force: true });
    const content = JSON.stringify({ base_url: baseUrl, ...shown }, undefined, 2);
    writeFileSync(file, `${content}\n`, { flag: "wx", mode: 0o600 });
    return { account, credentials_file: file };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.output.warn(
      `Cannot write the first API keys: ${why}. To create new ones, sign in with \`service serve link\`.`,
    );
    return { account };
  }
}

const MAX_CREDENTIALS_BYTES = 64 * 1024;

/** Commands in the folder of `service dev` use the first keys only at the URL in their file. */
async function updateCredentialsFile(database: string, { baseUrl }: Platform): Promise<void> {
  const file = `${database}.credentials`;
  try {
    const content = JSON.parse(readRegularFile(file, MAX_CREDENTIALS_BYTES).toString("utf8")) as { base_url?: unknown };
    if (content.base_url === baseUrl) return;
    await replaceDurably(file, `${JSON.stringify({ ...content, base_url: baseUrl }, undefined, 2)}\n`, 0o600);
  } catch {
    // The user may have moved it, since it contains secrets.
  }
}

async function start(
  options: ServeOptions & { port: number },
  context: Context,
  database: string,
  reporter: Reporter,
): Promise<Platform> {
  const timer = setTimeout(() => warnAboutSlowStart(database, context), SLOW_START_MILLISECONDS);
  try {
    return await startPlatform({
      ...deploymentSettings(database, options, context, reporter.log),
      host: options.host,
      port: options.port,
      role: options.role,
      publicUrl: publicUrlOf(options),
      trustedProxies: trustedProxiesOf(options),
      contact: contactOf(options),
      mcp: async () => (await import("../../mcp/http.ts")).serveMcp,
      report: reporter.activity,
      allowPrivateTargets: options.allowPrivateTargets,
      linkCommand: exactLinkCommand(database, context),
      dashboard: fileURLToPath(new URL("../dashboard/", import.meta.url)),
      leakKeys: options.leakKeys,
      requestSeconds: options.requestTimeout,
      rateLimits: rateLimitsOf(options),
      checkFile,
    });
  } catch (error) {
    reporter.failed();
    throw explain(error, options);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns undefined for PostgreSQL: its URL may contain a password. */
function exactLinkCommand(database: string, context: Context): string | undefined {
  if (isPostgresUrl(database)) return undefined;
  const option = isDefaultDatabase(database, context) ? [] : ["--database", database];
  return shellCommand`service serve link ${option}`.trimEnd();
}

/** An SQLite file is either ready at once or rejected. */
function warnAboutSlowStart(database: string, { output }: Context): void {
  if (!isPostgresUrl(database)) return;
  output.warn("Waiting for the database: it is slow to respond, or another process is migrating it.");
}

function publicUrlOf({ publicUrl }: ServeOptions): string | undefined {
  if (publicUrl === undefined) return undefined;
  const url = parseUrl(publicUrl);
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new UsageError("--public-url must be an origin without a path", {
    hint: "For example https://api.example.com",
  });
}

function contactOf({ contact }: ServeOptions): string | undefined {
  if (contact === undefined || /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/i.test(contact)) return contact;
  throw new UsageError("--contact must be a mailto: or https: URI", {
    hint: "For example mailto:security@example.com",
  });
}

function trustedProxiesOf({ trustProxy }: ServeOptions): AddressRange[] {
  return trustProxy.map((text) => {
    const range = parseRange(text) ?? parseRange(`${text}/${text.includes(":") ? 128 : 32}`);
    if (range !== undefined) return range;
    throw new UsageError(`--trust-proxy ${text} is not an address or range`, { hint: "For example 10.0.0.5" });
  });
}

function rateLimitsOf({ rateLimit, rateBurst }: ServeOptions): PlatformSettings["rateLimits"] {
  if (rateLimit === 0) return undefined;
  return { perSecond: rateLimit, burst: Math.max(1, Math.ceil(rateBurst ?? 2 * rateLimit)) };
}

/**
 * A trusted proxy alone is not enough, because others could connect without it. An https URL means that the proxy uses
 * TLS.
 */
function rejectPublicHost(options: ServeOptions, context: Context): void {
  if (isLoopback(options.host) || context.globals.insecure || publicUrlOf(options)?.startsWith("https:")) return;
  throw new UsageError(`--host ${options.host} would expose the API to other machines over plain http`, {
    hint: "Use a TLS proxy and pass its URL: --public-url https://api.example.com. To allow plain http, pass --insecure.",
  });
}

/** Turns errors that the user can fix into UserErrors; anything else is a defect. */
function explain(error: unknown, { port, host }: ServeOptions & { port: number }): unknown {
  if (error instanceof SigningKeysError) return new UsageError(`--leak-keys: ${error.message}`, { cause: error });
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return new UserError(
        `Cannot listen on ${host}:${port}: the port is in use by ${portOwner(port) ?? "another program"}`,
        {
          hint: "Stop that program, or choose another port; --port 0 uses a free one.",
          code: "port_taken",
          cause: error,
        },
      );
    case "EACCES":
      return new UserError(`Cannot listen on port ${port}: permission denied`, {
        hint: "Ports below 1024 are privileged. Choose a higher port.",
        code: "port_not_allowed",
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new UsageError(`--host ${host} is not an address of this machine`, { hint: "The default is 127.0.0.1." });
    default:
      return databaseError(error, { not_writable: NOT_WRITABLE, locked: "Or pass --database with another file." });
  }
}

/** Failures of the command that report on the file. */
const FILE_FAILURES = new Set(["not_a_database", "log_mismatch", "missing"]);
/** Yields to the platform: a lower priority than the default. */
const BACKGROUND = 10;

/**
 * Runs `service db check --quick` on a file in a separate process: SQLite reads the whole file in one call, which would
 * block every request here. Rejects if the process returns no result.
 */
const checkFile: FileCheck = (file, signal) =>
  new Promise((resolve, reject) => {
    const args = [process.argv[1]!, "db", "check", "--quick", "--json", "--database", file];
    const child = execFile(process.execPath, args, { signal, maxBuffer: Infinity }, (_error, stdout, stderr) => {
      const problems = readReport(stdout || stderr);
      if (problems !== undefined) resolve(problems);
      else reject(signal.aborted ? signal.reason : new Error(`service db check printed no report: ${stderr.trim()}`));
    });
    if (child.pid !== undefined) handOver(child.pid);
  });

/** Returns undefined if the text is neither a report nor a failure to open the file. */
function readReport(text: string): readonly string[] | undefined {
  const report = (parseJson(text) ?? {}) as { problems?: string[]; code?: string; detail?: string };
  if (report.problems !== undefined) return report.problems;
  return report.detail !== undefined && FILE_FAILURES.has(report.code ?? "") ? [report.detail] : undefined;
}

/** If the system has no priorities, the check runs at the default one. */
function handOver(pid: number): void {
  try {
    setPriority(pid, BACKGROUND);
  } catch {
    // Or the process has exited already.
  }
}

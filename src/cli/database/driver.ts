import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import spawn from "cross-spawn";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { dataDirectory } from "../settings/read.ts";
import { databaseError } from "./settings.ts";
import { createFolder } from "../../files/folders.ts";
import { DRIVER, driverFolder, loadSqlite } from "../../platform/index.ts";

/**
 * The prebuilt files need no script and no compiler. The lockfile pins their digests. Without a network, npm's own
 * retries would take more than a minute.
 */
const NPM = [
  "ci",
  "--ignore-scripts",
  "--prefer-offline",
  "--fetch-retries=0",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];
const OFFLINE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b/;

/** `service db install-driver`: installs the SQLite driver with npm, unless this Node.js already has an SQLite. */
export async function runInstallDriver(context: Context): Promise<void> {
  const { env, output } = context;
  const isMissing = !(await isPresent(env));
  if (isMissing) await install(context);
  const version = await sqliteVersion(env);
  if (output.json) return await output.document({ sqlite_version: version, installed: isMissing });
  if (isMissing) output.notice(`${output.noteStyles.good("✓")} Installed SQLite ${version} in ${driverFolder(env)}`);
  else output.notice(`SQLite ${version} is available. Nothing was installed.`);
}

/**
 * Asks whether to download the driver if this Node.js needs one. Without a terminal nothing happens: the error of the
 * start names the command.
 */
export async function offerDriver(context: Context): Promise<void> {
  const { env, interactive, prompts } = context;
  if (!interactive || (await isPresent(env))) return;
  const message = `Node.js ${process.version} has no SQLite. Download it from npm?`;
  if (!(await prompts.confirm({ message, flag: "service db install-driver", isYes: true }))) return;
  await install(context);
  context.output.success(`Installed SQLite in ${driverFolder(env)}`);
}

/** Offers the driver, for commands that start a platform in another process. Throws UserError if it is still missing. */
export async function requireDriver(context: Context): Promise<void> {
  await offerDriver(context);
  await sqliteVersion(context.env).catch((error: unknown) => {
    throw databaseError(error, {});
  });
}

function isPresent(env: Context["env"]): Promise<boolean> {
  return sqliteVersion(env).then(
    () => true,
    () => false,
  );
}

async function install(context: Context): Promise<void> {
  const data = dataDirectory(context.env);
  context.output.note("Downloading SQLite from npm…");
  createFolder(data);
  const folder = join(data, DRIVER.folder);
  const fresh = mkdtempSync(`${folder}.`);
  try {
    cpSync(fileURLToPath(new URL("../sqlite-driver/", import.meta.url)), fresh, { recursive: true });
    await runNpm(fresh, context);
    removeForeignFiles(join(fresh, "node_modules", DRIVER.name));
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function runNpm(folder: string, { env, signal }: Context): Promise<void> {
  const child = spawn("npm", NPM, { cwd: folder, env, signal, stdio: ["ignore", "ignore", "pipe"] });
  let printed = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (printed += text));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(messageOf(printed) ?? `npm exited with ${code}`);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const { message } = cause as Error;
    const isOffline = OFFLINE.test(message);
    const failure = isOffline ? "No connection to npm's registry" : message;
    throw new UserError(`Cannot install ${DRIVER.name} ${DRIVER.version}: ${failure}`, {
      hint: isOffline
        ? `Connect to the network and try again, or use Node.js 22.13 or later. npm: ${message}`
        : "npm must be installed and its registry reachable. Or use Node.js 22.13 or later.",
      code: "driver_not_installed",
      cause,
    });
  }
}

/** Returns the first line that says what failed: npm prints error codes before it and the stack after it. */
function messageOf(printed: string): string | undefined {
  const lines = printed.split("\n").map((line) => line.replace(/^npm error /, ""));
  return lines.find((line) => !/^(code|syscall|errno|path|dest|$)/.test(line));
}

/** Removes SQLite's source and the builds for other systems: about 24 of 29 MB. */
function removeForeignFiles(driver: string): void {
  rmSync(join(driver, "src"), { recursive: true, force: true });
  const builds = join(driver, "prebuilds");
  for (const name of readdirSync(builds)) {
    if (name !== `${process.platform}-${process.arch}`) rmSync(join(builds, name), { recursive: true });
  }
}

/** Returns the version of the platform's SQLite. Throws StorageOpenError if there is none. Import lazily. */
export async function sqliteVersion(env: Context["env"]): Promise<string> {
  const { DatabaseSync } = await loadSqlite(driverFolder(env));
  const database = new DatabaseSync(":memory:");
  const statement = database.prepare("SELECT sqlite_version() AS version");
  const version = String(statement.get()?.["version"]);
  database.close();
  return version;
}

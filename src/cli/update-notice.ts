import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "../files/folders.ts";
import { replaceFile } from "../files/replace.ts";
import type { Context } from "./context.ts";
import type { Settings } from "./settings/profiles.ts";

const DAY_MILLISECONDS = 86_400_000;

/**
 * Reports a newer version at most once a day, and queries the registry once a day, in a separate process that no
 * command waits for. Import this module lazily, after the command.
 */
export function showUpdateNotice(context: Context): void {
  try {
    if (!updateNotices(context.env, context.settings).value) return;
    const folder = context.settingsDirectory;
    const now = context.now();
    const state = readUpdateState(folder);
    const { latest } = state;
    const isNews = latest !== undefined && isNewer(latest, context.version) && !isToday(state.notified, now);
    if (isNews) say(context, latest);
    const isDue = !isToday(state.checked, now);
    if (!isNews && !isDue) return;
    // Written before the registry is queried, so that an unreachable one is not queried by every command.
    writeUpdateState(folder, { ...state, ...(isNews ? { notified: now } : {}), ...(isDue ? { checked: now } : {}) });
    if (isDue) check(context);
  } catch (error) {
    // A command never fails because of this.
    if (context.debug) context.output.trace(`update notice: ${(error as Error).message}`);
  }
}

function say({ output, version }: Context, latest: string): void {
  const styles = output.noteStyles;
  output.note(
    `\nA newer version is available: ${version} → ${styles.accent(latest)}\n  npm install --global service-cli`,
  );
  output.note(styles.dim("To disable this notice: service config set update_notices false"));
}

/** The clock may have been set back since. */
function isToday(time: number, now: number): boolean {
  return time <= now && now - time < DAY_MILLISECONDS;
}

function check({ env }: Context): void {
  const [node, program] = process.argv;
  if (node === undefined || program === undefined) return;
  const child = spawn(node, [program, "check-for-update"], {
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...env },
  });
  child.on("error", () => {});
  child.unref();
}

/** Returns whether one version of three numbers is newer than another. A pre-release counts as its release. */
function isNewer(one: string, other: string): boolean {
  const [base = ""] = other.split("-");
  if (!isVersion(base)) return false;
  const mine = base.split(".").map(Number);
  const difference = one
    .split(".")
    .map((part, i) => Number(part) - mine[i]!)
    .find((by) => by !== 0);
  return (difference ?? 0) > 0;
}

/** The stored state of update checks, in a file next to the settings. Times are Unix milliseconds. */
type UpdateState = ReturnType<typeof readUpdateState>;

const FILE = "update.json";

/** Returns the stored state, or an empty one if it cannot be read. */
export function readUpdateState(folder: string) {
  try {
    const { checked, notified, latest } = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as Record<
      string,
      unknown
    >;
    return {
      checked: Number(checked) || 0,
      notified: Number(notified) || 0,
      /** The newest published version: three numbers. */
      latest: isVersion(latest) ? latest : undefined,
    };
  } catch {
    return { checked: 0, notified: 0, latest: undefined };
  }
}

/** Throws if the folder cannot be written. */
export function writeUpdateState(folder: string, state: UpdateState): void {
  createFolder(folder);
  replaceFile(join(folder, FILE), `${JSON.stringify(state)}\n`);
}

/** Three numbers: only releases, and nothing that a terminal would interpret. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(value);
}

/** Each of these variables disables update notices. Users set the last two once, for all programs. */
const OPT_OUTS = ["SERVICE_NO_UPDATE_NOTIFIER", "NO_UPDATE_NOTIFIER", "DO_NOT_TRACK"];

/** Whether update notices are enabled, and the setting that decides it. */
export function updateNotices(
  env: Readonly<Record<string, string | undefined>>,
  { update_notices: stored }: Settings,
): { value: boolean; source: string } {
  const optOut = OPT_OUTS.find((name) => env[name]);
  if (optOut !== undefined) return { value: false, source: optOut };
  return typeof stored === "boolean" ? { value: stored, source: "settings file" } : { value: true, source: "default" };
}

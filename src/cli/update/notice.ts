import { spawn } from "node:child_process";
import type { Context } from "../context.ts";
import { isVersion, readUpdateState, updateNotices, writeUpdateState } from "./state.ts";

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
    // No command fails because of this.
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

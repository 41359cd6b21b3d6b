import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "../../files/folders.ts";
import type { Settings } from "../settings/profiles.ts";

/** The stored state of update checks, in a file beside the settings. Times are Unix milliseconds. */
interface UpdateState {
  /** When the registry was last queried. */
  checked: number;
  /** When the user was last notified. */
  notified: number;
  /** The newest published version: three numbers. */
  latest: string | undefined;
}

const FILE = "update.json";

/** Returns the stored state, or an empty one if it cannot be read. */
export function readUpdateState(folder: string): UpdateState {
  try {
    const { checked, notified, latest } = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as Partial<UpdateState>;
    return {
      checked: Number(checked) || 0,
      notified: Number(notified) || 0,
      latest: isVersion(latest) ? latest : undefined,
    };
  } catch {
    return { checked: 0, notified: 0, latest: undefined };
  }
}

/** Replaces the file in one step. Throws if the folder cannot be written. */
export function writeUpdateState(folder: string, state: UpdateState): void {
  createFolder(folder);
  const file = join(folder, FILE);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

/** Three numbers: only releases, and nothing that a terminal would interpret. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(value);
}

/** Whether update notices are enabled, and the setting that decides it. */
export function updateNotices(
  env: Readonly<Record<string, string | undefined>>,
  { update_notices: stored }: Settings,
): { value: boolean; source: string } {
  if (env["SERVICE_NO_UPDATE_NOTIFIER"]) return { value: false, source: "SERVICE_NO_UPDATE_NOTIFIER" };
  return typeof stored === "boolean" ? { value: stored, source: "settings file" } : { value: true, source: "default" };
}

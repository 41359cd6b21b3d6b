import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../files/make-folder.ts";
import type { Settings } from "../settings/profiles.ts";

/** What is remembered of newer versions, in a file beside the settings. Times are Unix milliseconds. */
interface UpdateState {
  /** When the registry was last asked. */
  checked: number;
  /** When a person was last told. */
  told: number;
  /** The newest version that is out: three numbers. */
  latest: string | undefined;
}

const FILE = "update.json";

/** What stands there; nothing where it cannot be read. */
export function readUpdateState(folder: string): UpdateState {
  try {
    const { checked, told, latest } = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as Partial<UpdateState>;
    return { checked: Number(checked) || 0, told: Number(told) || 0, latest: isVersion(latest) ? latest : undefined };
  } catch {
    return { checked: 0, told: 0, latest: undefined };
  }
}

/** Replaces the file in one step. Throws where the folder cannot be written. */
export function writeUpdateState(folder: string, state: UpdateState): void {
  makeFolder(folder);
  const file = join(folder, FILE);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

/** Three numbers: releases only, and nothing that a terminal would take for more than text. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(value);
}

/** Whether a person wants to hear of newer versions, and what says so. */
export function updateNotices(
  env: Readonly<Record<string, string | undefined>>,
  { update_notices: stored }: Settings,
): { value: boolean; source: string } {
  if (env["SERVICE_NO_UPDATE_NOTIFIER"]) return { value: false, source: "SERVICE_NO_UPDATE_NOTIFIER" };
  return typeof stored === "boolean" ? { value: stored, source: "settings file" } : { value: true, source: "default" };
}

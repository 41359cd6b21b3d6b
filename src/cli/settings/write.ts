import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Conf from "conf";
import { lock } from "proper-lockfile";
import { UserError } from "../errors.ts";
import { SETTINGS_FILE } from "./directory.ts";
import type { Settings } from "./profiles.ts";
import { readSettings, SettingsFileError } from "./read.ts";

const LOCK_STALE_MILLISECONDS = 5000;

/**
 * Changes the settings: reads them again under a lock that all processes share, so that no writer undoes another's
 * work, then replaces the file in one step (mode 0600, in a folder of 0700). Import this module lazily.
 */
export async function updateSettings(directory: string, change: (settings: Settings) => Settings): Promise<Settings> {
  const path = join(directory, SETTINGS_FILE);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const release = await acquire(path);
    try {
      refuseSymbolicLink(path);
      const settings = change(readSettings(directory));
      new Conf({
        cwd: directory,
        configName: "config",
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
      }).store = { ...settings };
      return settings;
    } finally {
      await release();
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SettingsFileError(
      `${path} cannot be written (${code ?? message})`,
      "Check the folder's owner and space, or name another with SERVICE_CONFIG_DIR.",
      error,
    );
  }
}

/** Waits up to some 30 s for other processes; a dead one's lock is taken over after 5 s. */
async function acquire(path: string): Promise<() => Promise<void>> {
  return await lock(path, {
    realpath: false,
    stale: LOCK_STALE_MILLISECONDS,
    retries: { retries: 1200, factor: 1, minTimeout: 10, maxTimeout: 40, randomize: true },
  });
}

/** A link could lead the credentials to a place that others read. */
function refuseSymbolicLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new SettingsFileError(
      `${path} is a symbolic link; credentials are not written through one`,
      "Replace it by a file, or name the folder of its target with SERVICE_CONFIG_DIR.",
    );
  }
}

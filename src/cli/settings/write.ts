import { lstatSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "../../files/folders.ts";
import { replaceFile } from "../../files/replace.ts";
import { UserError } from "../errors.ts";
import { withLock } from "./lock.ts";
import type { Settings } from "./profiles.ts";
import { readSettings, SETTINGS_FILE, SettingsFileError } from "./read.ts";

/**
 * Changes the settings: reads them again under a lock that all processes share, so that no writer undoes another's
 * change, then replaces the file in one step (mode 0600, in a folder of 0700). Import this module lazily.
 */
export async function updateSettings(directory: string, change: (settings: Settings) => Settings): Promise<Settings> {
  const path = join(directory, SETTINGS_FILE);
  try {
    createFolder(directory);
    return await withLock(`${path}.lock`, () => Promise.resolve(rewrite(directory, path, change)));
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SettingsFileError(
      `Cannot write ${path} (${code ?? message})`,
      "Check the owner and free space of the folder, or set SERVICE_CONFIG_DIR to another folder.",
      error,
    );
  }
}

function rewrite(directory: string, path: string, change: (settings: Settings) => Settings): Settings {
  rejectSymbolicLink(path);
  const settings = change(readSettings(directory));
  replaceFile(path, `${JSON.stringify(settings, undefined, 2)}\n`);
  return settings;
}

/** A link could lead the credentials to a target that others can read. */
function rejectSymbolicLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new SettingsFileError(
      `${path} is a symbolic link; credentials are not written through one`,
      "Replace it with a file, or set SERVICE_CONFIG_DIR to the folder of its target.",
    );
  }
}

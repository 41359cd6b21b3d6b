import { join } from "node:path";
import { emptySettings, type Settings } from "./profiles.ts";
import { isReadableByOthers, readSettings, SETTINGS_FILE, settingsDirectory } from "./read.ts";

export interface SettingsStoreOptions {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Takes what a person should know of the file. */
  warn: (text: string) => void;
}

/** The settings of this account, read at their first use and once. */
export class SettingsStore {
  readonly #options: SettingsStoreOptions;
  #settings: Settings | undefined;

  constructor(options: SettingsStoreOptions) {
    this.#options = options;
  }

  /** The folder of settings and credentials. Throws UserError where the account has no home folder. */
  get directory(): string {
    return settingsDirectory(this.#options.env, this.#options.platform);
  }

  /** Throws SettingsFileError for a file that cannot be understood. */
  get settings(): Settings {
    this.#settings ??= this.#read();
    return this.#settings;
  }

  /** Changes them under the lock that all processes share. */
  async update(change: (settings: Settings) => Settings): Promise<Settings> {
    const { updateSettings } = await import("./write.ts");
    this.#settings = await updateSettings(this.directory, change);
    return this.#settings;
  }

  #read(): Settings {
    let directory: string;
    try {
      directory = this.directory;
    } catch {
      // Without a home folder nothing can be stored, but variables and flags still do.
      return emptySettings();
    }
    const settings = readSettings(directory);
    if (isReadableByOthers(directory, this.#options.platform)) {
      const file = join(directory, SETTINGS_FILE);
      this.#options.warn(
        `${file} is readable by other users. Run: chmod 600 ${file}. If others may have read it, roll its keys.`,
      );
    }
    return settings;
  }
}

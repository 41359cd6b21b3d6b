import { join } from "node:path";
import { emptySettings, type Settings } from "./profiles.ts";
import { isReadableByOthers, readSettings, SETTINGS_FILE, settingsDirectory } from "./read.ts";
import { shellCommand } from "../../contract/shell-command.ts";

interface SettingsStoreOptions {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Receives warnings about the file. */
  warn: (text: string) => void;
}

/** The settings of this user, read once at their first use. */
export class SettingsStore {
  readonly #options: SettingsStoreOptions;
  #settings: Settings | undefined;

  constructor(options: SettingsStoreOptions) {
    this.#options = options;
  }

  /** Returns the folder of settings and credentials. Throws UserError if the user has no home folder. */
  get directory(): string {
    return settingsDirectory(this.#options.env, this.#options.platform);
  }

  /** Throws SettingsFileError for an invalid file. */
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
      // Without a home folder nothing can be stored, but variables and flags still work.
      return emptySettings();
    }
    const settings = readSettings(directory);
    if (isReadableByOthers(directory, this.#options.platform)) {
      const file = join(directory, SETTINGS_FILE);
      this.#options.warn(
        `${file} is readable by other users. Run: ${shellCommand`chmod 600 ${file}`}. If others may have read it, rotate its keys.`,
      );
    }
    return settings;
  }
}

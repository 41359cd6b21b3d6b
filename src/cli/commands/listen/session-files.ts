import { openFileWarning } from "./open-file.ts";
import { writeEnvFile } from "./env-file.ts";
import type { EnvTarget } from "./flag-values.ts";
import { removeReadyFile, writeReadyFile } from "./ready-file.ts";
import { Recorder } from "./recorder.ts";

export interface SessionFilesOptions {
  writeEnv: EnvTarget | undefined;
  readyFile: string | undefined;
  record: string | undefined;
  platform: NodeJS.Platform;
  warn: (text: string) => void;
  /** Told once, when events cannot be recorded any more. */
  onFailure: (error: Error) => void;
}

/** The files that a session writes for other programs: the secret, that it is ready, and its events. */
export class SessionFiles {
  readonly #options: SessionFilesOptions;
  readonly #recorder: Recorder | undefined;

  /** Throws UserError where the recording cannot be opened. */
  constructor(options: SessionFilesOptions) {
    const { record, onFailure } = options;
    this.#options = options;
    if (record === undefined) return;
    this.#recorder = new Recorder(record, onFailure);
    this.#warnIfOpen(record, "complete events");
  }

  /** Nothing is ready yet, or any more. Rejects with UserError where the ready file could not be written later. */
  async removeReady(): Promise<void> {
    const { readyFile } = this.#options;
    if (readyFile !== undefined) await removeReadyFile(readyFile);
  }

  /** Events flow from now on, signed with this secret. */
  async ready(secret: string, forwardTo: URL | undefined): Promise<void> {
    const { writeEnv, readyFile } = this.#options;
    this.#recorder?.begin();
    if (writeEnv !== undefined) {
      await writeEnvFile(writeEnv, secret);
      this.#warnIfOpen(writeEnv.file, "the signing secret");
    }
    if (readyFile !== undefined) await writeReadyFile(readyFile, { secret, forwardTo });
  }

  record(event: Parameters<Recorder["add"]>[0]): void {
    this.#recorder?.add(event);
  }

  close(): void {
    this.#recorder?.close();
  }

  #warnIfOpen(file: string, content: string): void {
    const warning = openFileWarning(file, content, this.#options.platform);
    if (warning !== undefined) this.#options.warn(warning);
  }
}

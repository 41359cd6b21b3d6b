import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { formatRecordedEvent, type RecordedEvent } from "../../../relay/recording.ts";
import { UserError } from "../../errors.ts";

/** Writes events into a file that `listen replay` reads, for its owner alone. */
export class Recorder {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #onFailure: (error: UserError) => void;
  #lines: string[] = [];
  #failed = false;

  /** Throws UserError where the file cannot be opened; told once by `onFailure` when it cannot be written any more. */
  constructor(file: string, onFailure: (error: UserError) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
    try {
      this.#descriptor = openSync(file, "a", 0o600);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Empties the file. An earlier recording stays until then, in case no connection is made. */
  begin(): void {
    try {
      ftruncateSync(this.#descriptor);
    } catch (error) {
      // Pipes and devices cannot be truncated.
      if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw this.#explain(error);
    }
  }

  /** The events of one turn of the event loop share a write. */
  add(event: RecordedEvent): void {
    if (this.#failed || this.#lines.push(formatRecordedEvent(event)) > 1) return;
    setImmediate(() => this.#write());
  }

  close(): void {
    this.#write();
    this.#failed = true;
    closeSync(this.#descriptor);
  }

  #write(): void {
    if (this.#lines.length === 0 || this.#failed) return;
    const bytes = Buffer.from(`${this.#lines.join("\n")}\n`);
    this.#lines = [];
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(this.#descriptor, bytes, written);
    } catch (error) {
      this.#failed = true;
      this.#onFailure(this.#explain(error));
    }
  }

  #explain(error: unknown): UserError {
    return new UserError(`--record: cannot write ${this.#file}: ${(error as Error).message}`, { cause: error });
  }
}

import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { access, constants, readFile, realpath, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceDurably } from "../../files/replace.ts";
import { parseJson } from "../../contract/json.ts";
import { formatRecordedEvent, parseRecordedEvent, type RecordedEvent, RecordingError } from "../../relay/recording.ts";
import { UserError } from "../errors.ts";
import { isOpenToOthers } from "../settings/read.ts";
import { shellCommand } from "../../contract/shell-command.ts";

/** The file to write the secret to, and the name of the variable. */
export interface EnvTarget {
  file: string;
  name: string;
}

export interface FileFlags {
  writeEnv?: EnvTarget;
  readyFile?: string;
  record?: string;
}

/** The files that a run writes for other programs: the secret, that it is ready, and its events. */
export class RunFiles {
  readonly #flags: FileFlags;
  readonly #options: RecorderOptions;
  readonly #recorder: Recorder | undefined;

  /** Throws UserError if the recording cannot be opened. */
  constructor(flags: FileFlags, options: RecorderOptions) {
    this.#flags = flags;
    this.#options = options;
    if (flags.record !== undefined) this.#recorder = new Recorder(flags.record, "complete events", options);
  }

  /** Rejects with UserError if a file could not be written later. `secret` is undefined if the platform's is used. */
  async assertWritable(secret: string | undefined): Promise<void> {
    if (this.#flags.writeEnv === undefined) return;
    const { file, name } = this.#flags.writeEnv;
    await explained("--write-env", file, async () => {
      formatValue(name, secret ?? "");
      const path = (await readIfThere(file))?.path ?? file;
      await access(dirname(path), constants.W_OK);
    });
  }

  /**
   * Marks the run as not ready: the ready file of an earlier run is wrong until this run is ready, and one of a finished
   * run stays wrong. Rejects with UserError if the file could not be written later.
   */
  async removeReady(): Promise<void> {
    const { readyFile: file } = this.#flags;
    if (file === undefined) return;
    await explained("--ready-file", file, async () => {
      await access(dirname(file), constants.W_OK);
      await rm(file, { force: true });
    });
  }

  /**
   * Tells a script that events are forwarded now, signed with this secret. The ready file appears whole or not at all,
   * for its owner only.
   */
  async ready(secret: string, forwardTo: URL | undefined): Promise<void> {
    const { writeEnv, readyFile } = this.#flags;
    if (writeEnv !== undefined) {
      const { file, name } = writeEnv;
      await explained("--write-env", file, () => writeEnvFile(file, { [name]: secret }));
      warnIfOpen(file, "the signing secret", this.#options);
    }
    if (readyFile === undefined) return;
    const content = JSON.stringify({ secret, forward_to: forwardTo?.href ?? null, pid: process.pid });
    await explained("--ready-file", readyFile, () => replaceDurably(readyFile, `${content}\n`, 0o600));
  }

  record(event: Parameters<Recorder["add"]>[0]): void {
    this.#recorder?.add(event);
  }

  close(): void {
    this.#recorder?.close();
  }
}

interface RecorderOptions {
  platform: NodeJS.Platform;
  warn: (text: string) => void;
  /** Called once, when events cannot be recorded any more. */
  onFailure: (error: UserError) => void;
}

/** Appends events to a file that `listen replay` and `webhooks replay` read. A new one is for its owner alone. */
export class Recorder {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #onFailure: (error: UserError) => void;
  #lines: string[] = [];
  #failed = false;

  /** Throws UserError if the file cannot be opened, or has other contents than a recording. */
  constructor(file: string, content: string, options: RecorderOptions) {
    this.#file = file;
    this.#onFailure = options.onFailure;
    try {
      this.#descriptor = openSync(file, "a", 0o600);
    } catch (error) {
      throw this.#explain(error);
    }
    try {
      const stats = fstatSync(this.#descriptor);
      if (stats.isFile() && stats.size > 0) this.#endLastLine(lastLineOf(file, stats.size), options.warn);
    } catch (error) {
      closeSync(this.#descriptor);
      throw this.#explain(error);
    }
    warnIfOpen(file, content, options);
  }

  /** The events of one turn of the event loop share a write. */
  add(event: RecordedEvent): void {
    if (this.#failed || this.#lines.push(formatRecordedEvent(event)) > 1) return;
    setImmediate(() => this.#write());
  }

  #endLastLine(line: string, warn: (text: string) => void): void {
    if (line === "") return;
    writeSync(this.#descriptor, "\n");
    if (parseJson(line) !== undefined) return;
    warn(
      `The last line of ${this.#file} is not complete, as if its writer had been killed. \`service webhooks replay\` skips it.`,
    );
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
    if (error instanceof RecordingError) {
      return new UserError(`--record: ${this.#file} exists and is not a recording: ${error.message}`, {
        hint: "Choose another file. This one was not changed.",
        cause: error,
      });
    }
    return new UserError(`--record: cannot write ${this.#file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns what follows the last line end of a recording. Throws RecordingError if its first line is not an event. */
function lastLineOf(file: string, size: number): string {
  const descriptor = openSync(file, "r");
  try {
    const first = firstLine(descriptor);
    if (parseJson(first) !== undefined || !first.startsWith(LINE_START)) parseRecordedEvent(first, 1);
    const chunks: Buffer[] = [];
    for (let end = size; end > 0; end -= CHUNK_BYTES) {
      const start = Math.max(0, end - CHUNK_BYTES);
      const chunk = Buffer.alloc(end - start);
      readSync(descriptor, chunk, 0, chunk.length, start);
      const after = chunk.lastIndexOf(LINE_FEED) + 1;
      chunks.unshift(chunk.subarray(after));
      if (after > 0) break;
    }
    return Buffer.concat(chunks).toString();
  } finally {
    closeSync(descriptor);
  }
}

/** How each line of a recording starts, even a truncated one. */
const LINE_START = '{"time":"';

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 65_536;

function firstLine(descriptor: number): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const size = readSync(descriptor, chunk);
    const end = chunk.indexOf(LINE_FEED);
    chunks.push(chunk.subarray(0, end === -1 ? size : end));
    if (end !== -1 || size === 0) return Buffer.concat(chunks).toString();
  }
}

/**
 * Sets variables of an .env file and leaves the rest as it is, to the byte. A file that already has the values is not
 * touched, so that a watcher does not restart. Only its owner can read a new file; an existing one keeps its mode,
 * because a container may read it as another user.
 */
export async function writeEnvFile(file: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const current = await readIfThere(file);
  let text = current?.text ?? "";
  for (const [name, value] of Object.entries(variables)) text = setVariable(text, name, formatValue(name, value));
  if (text !== current?.text)
    await replaceDurably(current?.path ?? file, Buffer.from(text, "latin1"), current?.mode ?? 0o600);
}

const PLAIN_VALUE = /^[\w./:@%+,=-]*$/;
const LINE_BREAKERS = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * Returns a value as `node --env-file`, dotenv and a POSIX shell all read it, each UTF-8 byte as a character. Throws if
 * no notation has the same meaning to all of them.
 */
function formatValue(name: string, value: string): string {
  if (LINE_BREAKERS.test(value)) throw new Error(`the value of ${name} contains a line break or control character`);
  const bytes = Buffer.from(value).toString("latin1");
  if (PLAIN_VALUE.test(value)) return bytes;
  if (!/'|\\$/.test(value)) return `'${bytes}'`;
  if (!/["$`\\]/.test(value)) return `"${bytes}"`;
  throw new Error(`the value of ${name} contains quotes or backslashes that programs read differently`);
}

/** Returns the text with the variable set, where it already is or in a line at the end. */
function setVariable(text: string, name: string, value: string): string {
  const assignment = new RegExp(String.raw`^([ \t]*(?:export[ \t]+)?${name}[ \t]*=).*?(\r?)$`, "gm");
  if (assignment.test(text)) {
    return text.replace(assignment, (_line, start: string, end: string) => `${start}${value}${end}`);
  }
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const separator = text === "" || text.endsWith("\n") ? "" : lineEnd;
  return `${text}${separator}${name}=${value}${lineEnd}`;
}

/** Follows a symbolic link and replaces the file that it leads to. */
async function readIfThere(file: string): Promise<{ path: string; text: string; mode: number } | undefined> {
  try {
    const path = await realpath(file);
    const { mode } = await stat(path);
    // Every byte is a character, so that a file in any encoding stays as it is.
    return { path, text: await readFile(path, "latin1"), mode: mode & 0o777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function explained(flag: string, file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "EISDIR"
        ? "it is a folder; pass a file in it"
        : code === "ENOENT" || code === "ENOTDIR"
          ? `folder ${dirname(file)} does not exist`
          : message;
    throw new UserError(`${flag}: cannot write ${file}: ${reason}`, { cause: error });
  }
}

function warnIfOpen(file: string, content: string, { platform, warn }: RecorderOptions): void {
  const warning = openFileWarning(file, content, platform);
  if (warning !== undefined) warn(warning);
}

/**
 * Returns the warning about a file with a secret or payloads that other users can read. It existed before, since
 * `listen` creates them for their owner only. Returns undefined if it is private.
 */
export function openFileWarning(file: string, content: string, platform: NodeJS.Platform): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || !isOpenToOthers(stats.mode, platform)) return undefined;
  return `${file} contains ${content} and is readable by other users. ${shellCommand`Run: chmod 600 ${file}`}`;
}

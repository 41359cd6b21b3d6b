import { createReadStream } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../../errors.ts";
import { type Finding, LONGEST, matchesIn } from "./finding.ts";

const BINARY_MOST_BYTES = 1024 * 1024;
const SNIFFED_BYTES = 8192;

export interface TreeReport {
  /** Told of each file that was read. */
  onFile: (path: string) => void;
  /** Told of what could not be read. */
  onUnreadable: (path: string, reason: string) => void;
}

/** Looks into a file, or into every file below a folder but for .git. Links are not followed. */
export async function* scanTree(path: string, report: TreeReport): AsyncGenerator<Finding> {
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UserError(error.code === "ENOENT" ? `${path} does not exist` : `${path} cannot be read (${error.code})`, {
      code: "input_file",
      cause: error,
    });
  });
  yield* stats.isDirectory() ? scanFolder(path, report) : scanReadable(path, stats.size, report);
}

async function* scanFolder(folder: string, report: TreeReport): AsyncGenerator<Finding> {
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    return report.onUnreadable(folder, reasonOf(error));
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = folder === "." ? entry.name : join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== ".git") yield* scanFolder(path, report);
    else if (entry.isFile()) yield* scanReadable(path, (await lstat(path)).size, report);
  }
}

async function* scanReadable(path: string, size: number, report: TreeReport): AsyncGenerator<Finding> {
  try {
    if (size > BINARY_MOST_BYTES && (await isBinary(path))) return;
    report.onFile(path);
    yield* scanFile(path);
  } catch (error) {
    report.onUnreadable(path, reasonOf(error));
  }
}

/** Reads in pieces, each with the end of the one before, so that a credential across a cut is found too. */
async function* scanFile(path: string): AsyncGenerator<Finding> {
  let kept = "";
  let line = 1;
  let done = 0;
  for await (const piece of createReadStream(path, { encoding: "latin1" })) {
    const text = kept + String(piece);
    let counted = 0;
    for (const { index, ...match } of matchesIn(text)) {
      if (index < done) continue;
      line += linesIn(text, counted, index);
      counted = index;
      done = index + match.secret.length;
      yield { ...match, path, line, commit: null };
    }
    const cut = Math.max(0, text.length - LONGEST, counted);
    line += linesIn(text, counted, cut);
    kept = text.slice(cut);
    done = Math.max(0, done - cut);
  }
}

function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

async function isBinary(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
    return buffer.subarray(0, bytesRead).includes(0);
  } finally {
    await file.close();
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}

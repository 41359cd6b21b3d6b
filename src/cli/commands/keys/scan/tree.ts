import { createReadStream } from "node:fs";
import { open, readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../../errors.ts";
import { type Finding, findingsIn, MAX_CREDENTIAL_LENGTH, matchesWithIndex, withoutNuls } from "./finding.ts";

const MAX_BINARY_BYTES = 1024 * 1024;
const SNIFFED_BYTES = 8192;

interface TreeReport {
  /** Called after each file. */
  onFile: (path: string) => void;
  /** Called for what could not be read. */
  onUnreadable: (path: string, reason: string) => void;
}

/**
 * Searches a file, or the names and contents of all files below a folder except .git. Follows no links, except the
 * given path.
 */
export async function* scanTree(path: string, report: TreeReport): AsyncGenerator<Finding> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === "ENOENT" ? `${path} does not exist` : `Cannot read ${path} (${error.code})`, {
      code: "input_file",
      cause: error,
    });
  });
  const bytes = Buffer.from(path).toString("latin1");
  yield* stats.isDirectory() ? scanFolder(bytes, report) : scanReadable(bytes, report);
}

/** Paths are bytes here, one per character, since a name need not be UTF-8. */
async function* scanFolder(folder: string, report: TreeReport): AsyncGenerator<Finding> {
  let entries;
  try {
    entries = await readdir(bytesOf(folder), { withFileTypes: true, encoding: "latin1" });
  } catch (error) {
    return report.onUnreadable(shown(folder), reasonOf(error));
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = folder === "." ? entry.name : join(folder, entry.name);
    yield* findingsIn(entry.name, { path: shown(path), line: null, commit: null });
    if (entry.isDirectory() && entry.name !== ".git") yield* scanFolder(path, report);
    else if (entry.isFile()) yield* scanReadable(path, report);
    else if (entry.isSymbolicLink()) yield* scanLink(path, report);
  }
}

/** Git stores a link's target as its content. */
async function* scanLink(path: string, report: TreeReport): AsyncGenerator<Finding> {
  try {
    yield* findingsIn(await readlink(bytesOf(path), "latin1"), { path: shown(path), line: 1, commit: null });
  } catch (error) {
    report.onUnreadable(shown(path), reasonOf(error));
  }
}

async function* scanReadable(path: string, report: TreeReport): AsyncGenerator<Finding> {
  try {
    const { size } = await stat(bytesOf(path));
    if (size > MAX_BINARY_BYTES && (await isBinary(path))) return;
    report.onFile(shown(path));
    yield* scanFile(path);
  } catch (error) {
    report.onUnreadable(shown(path), reasonOf(error));
  }
}

/** Reads in pieces, each with the end of the previous one, so that a credential across a cut is found too. */
async function* scanFile(path: string): AsyncGenerator<Finding> {
  let rest = "";
  let line = 1;
  let done = 0;
  for await (const piece of createReadStream(bytesOf(path), { encoding: "latin1" })) {
    const text = rest + withoutNuls(String(piece));
    let counted = 0;
    for (const { index, ...match } of matchesWithIndex(text)) {
      if (index < done) continue;
      line += linesIn(text, counted, index);
      counted = index;
      done = index + match.secret.length;
      yield { ...match, path: shown(path), line, commit: null };
    }
    const cut = Math.max(0, text.length - MAX_CREDENTIAL_LENGTH, counted);
    line += linesIn(text, counted, cut);
    rest = text.slice(cut);
    done = Math.max(0, done - cut);
  }
}

function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

async function isBinary(path: string): Promise<boolean> {
  const file = await open(bytesOf(path));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
    return buffer.subarray(0, bytesRead).includes(0);
  } finally {
    await file.close();
  }
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

function shown(path: string): string {
  return bytesOf(path).toString("utf8");
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}

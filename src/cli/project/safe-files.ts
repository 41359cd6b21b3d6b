import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** A file of a project cannot be read. The message continues its name: `is larger than 64 KiB`. */
export class IrregularFileError extends Error {
  override name = "IrregularFileError";
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads a file that someone else may have created. A folder, a pipe or a device, which could block or never end, throws
 * IrregularFileError, as does a file that is too large.
 */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new IrregularFileError(stats.isDirectory() ? "is a folder" : "is not a regular file");
    const chunks: Buffer[] = [];
    for (let size = 0; size <= maxBytes;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const length = readSync(descriptor, chunk);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
      size += length;
    }
    throw new IrregularFileError(`is larger than ${maxBytes / 1024} KiB`);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns where a path leads if that is outside the folder, after symbolic links; undefined if it is inside. */
export function outsideOf(folder: string, path: string): string | undefined {
  const way = wayFrom(folder, path);
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? resolve(realpathSync(folder), way) : undefined;
}

/** Returns where a path leads, after symbolic links, relative to the folder. */
function wayFrom(folder: string, path: string): string {
  return relative(realpathSync(folder), realPathOf(resolve(folder, path)));
}

const ENV_FILE = /^(\.env(\..+)?|.*\.env|\.envrc|\.dev\.vars)$/;

/**
 * Returns why a path of the folder is not that of an env file: a project file must not select any other file for
 * changes.
 */
export function envFileProblem(folder: string, path: string): string | undefined {
  const way = wayFrom(folder, path);
  const names = "its name must be .env, .env.*, *.env, .envrc or .dev.vars";
  if (!ENV_FILE.test(basename(path))) return `is not an env file: ${names}`;
  if (!ENV_FILE.test(basename(way))) return `leads to ${way}, which is not an env file: ${names}`;
  const isOfGit = way.split(sep).some((name) => name.toLowerCase() === ".git");
  return isOfGit ? "is in a .git folder; use a path outside it" : undefined;
}

/** The same as realpath for what does not exist yet: a link that leads nowhere counts as what it would create. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const own = join(realPathOf(dirname(path)), basename(path));
  const isLink = lstatSync(own, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPathOf(resolve(dirname(own), readlinkSync(own))) : own;
}

import { fstatSync, writeSync } from "node:fs";

/** Where lines go. */
export interface TextStream {
  /** True where a person looks at it. */
  readonly isTTY: boolean;
  /** Width of the terminal; undefined where there is none. */
  readonly columns: number | undefined;
  write(text: string): void;
  /** Bits of colour that it can show, by its environment. */
  getColorDepth(env: object): number;
}

export interface TextStreamOptions {
  descriptor: 1 | 2;
  platform: NodeJS.Platform;
  /** Opens Node's own stream. */
  open: () => NodeJS.WriteStream;
  /** Told once nothing can be written any more, as after `| head`. */
  onClosed: (error: NodeJS.ErrnoException) => void;
}

/**
 * A stream of the process. Node's own streams take several milliseconds to load, a good part of a short command, so
 * pipes and files are written to directly; to these Node writes synchronously as well. Anything else gets its stream.
 */
export function openTextStream(options: TextStreamOptions): TextStream {
  return isPipeOrFile(options) ? writeDirectly(options) : writeThroughStream(options);
}

function isPipeOrFile({ descriptor, platform }: TextStreamOptions): boolean {
  if (platform === "win32") return false;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isSocket() || stats.isFile();
  } catch {
    return false;
  }
}

function writeDirectly({ descriptor, onClosed }: TextStreamOptions): TextStream {
  let closed = false;
  return {
    isTTY: false,
    columns: undefined,
    getColorDepth: () => 1,
    write(text) {
      if (closed) return;
      try {
        writeAll(descriptor, Buffer.from(text));
      } catch (error) {
        closed = true;
        onClosed(error as NodeJS.ErrnoException);
      }
    },
  };
}

const FULL_PIPE_MILLISECONDS = 5;

/** Another process may have made the pipe non-blocking; then a full one has to be waited for. */
function writeAll(descriptor: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MILLISECONDS);
    }
  }
}

function writeThroughStream({ open, onClosed }: TextStreamOptions): TextStream {
  const stream = open();
  stream.on("error", onClosed);
  return {
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    getColorDepth: (env) => (stream.isTTY ? stream.getColorDepth(env) : 1),
    write(text) {
      stream.write(text);
    },
  };
}

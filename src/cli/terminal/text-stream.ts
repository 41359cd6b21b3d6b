import { fstatSync, writeSync } from "node:fs";

/** A destination for lines. */
export interface TextStream {
  readonly isTTY: boolean;
  /** Width of the terminal; undefined if there is none. */
  readonly columns: number | undefined;
  /** Height of the terminal; undefined if there is none. */
  readonly rows: number | undefined;
  write(text: string): void;
  /** Color depth in bits, by its environment. */
  getColorDepth(env: object): number;
  /**
   * From now on, a slow reader does not delay the command: later lines may be dropped. For commands whose main work is
   * not printing. Call the returned function last; it resolves once the rest was read or dropped.
   */
  makeNonBlocking(options: NonBlockingOptions): Promise<() => Promise<void>>;
}

interface TextStreamOptions {
  descriptor: 1 | 2;
  platform: NodeJS.Platform;
  open: () => NodeJS.WriteStream;
  /** Called once nothing can be written any more, as after `| head`. */
  onClosed: (error: NodeJS.ErrnoException) => void;
}

/**
 * A stream of the process. Node's own streams take several milliseconds to load, much of a short command, so pipes and
 * files are written directly, which Node also does synchronously. Anything else uses Node's stream.
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
  let nonBlocking: Awaited<ReturnType<typeof openNonBlockingWriter>> | undefined;
  return {
    isTTY: false,
    columns: undefined,
    rows: undefined,
    getColorDepth: () => 1,
    write(text) {
      if (nonBlocking !== undefined) return nonBlocking.write(text);
      if (closed) return;
      try {
        writeAll(descriptor, Buffer.from(text));
      } catch (error) {
        closed = true;
        onClosed(error as NodeJS.ErrnoException);
      }
    },
    async makeNonBlocking(options) {
      if (fstatSync(descriptor).isFile()) return async () => {};
      const writer = await openNonBlockingWriter(descriptor, options, onClosed);
      nonBlocking = writer;
      return () => writer.settle();
    },
  };
}

const FULL_PIPE_MILLISECONDS = 5;

/** Another process may have made the pipe non-blocking. Then a full pipe has to be polled. */
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
  assumeSize(stream);
  stream.on("resize", () => assumeSize(stream));
  return {
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    get rows() {
      return stream.isTTY ? stream.rows : undefined;
    },
    getColorDepth: (env) => (stream.isTTY ? stream.getColorDepth(env) : 1),
    write(text) {
      stream.write(text);
    },
    makeNonBlocking: async () => async () => {},
  };
}

/**
 * A terminal that does not know its size, as in some containers, reports 0. Changes Node's stream, because ora reads it
 * and would erase endlessly many lines.
 */
function assumeSize(stream: NodeJS.WriteStream): void {
  if (stream.columns === 0) stream.columns = 80;
  if (stream.rows === 0) stream.rows = 24;
}

const LAST_WAIT_MS = 1000;

interface NonBlockingOptions {
  /** Returns the line that replaces dropped ones. */
  omitted: (lines: number) => string;
  /** How much may wait for the reader; a multiple of the longest line. */
  maxBytes: number;
}

/**
 * Never waits for the reader, as a direct write to a full pipe would: output is buffered up to `maxBytes`, then dropped.
 * `omitted` returns the line that says how many lines are missing, once there is room again.
 */
async function openNonBlockingWriter(
  descriptor: number,
  { omitted, maxBytes }: NonBlockingOptions,
  onClosed: (error: NodeJS.ErrnoException) => void,
) {
  // The module takes milliseconds to load, which only commands that run for long have.
  const { Socket } = await import("node:net");
  const pipe = new Socket({ fd: descriptor, readable: false, writable: true });
  pipe.on("error", onClosed);
  let missing = 0;
  /** Lines of one turn of the event loop share a system call. */
  let gathered = "";
  const flush = () => {
    pipe.write(gathered);
    gathered = "";
  };
  return {
    write(text: string): void {
      if (pipe.writableEnded || pipe.destroyed) return;
      if (pipe.writableLength + gathered.length + text.length > maxBytes) {
        missing += text.split("\n").length - 1;
        return;
      }
      if (gathered === "") setImmediate(flush);
      gathered += missing > 0 ? `${omitted(missing)}${text}` : text;
      missing = 0;
    },
    /** Resolves once everything is read. Drops what is not read within a second. Call this last. */
    async settle(): Promise<void> {
      // Output of this turn of the event loop is included.
      await new Promise((resolve) => setImmediate(resolve));
      const closed = new Promise((resolve) => pipe.once("close", resolve));
      if (pipe.destroyed) return;
      const timer = setTimeout(() => pipe.destroy(), LAST_WAIT_MS);
      pipe.end(missing > 0 ? omitted(missing) : "", () => pipe.destroy());
      await closed;
      clearTimeout(timer);
    },
  };
}

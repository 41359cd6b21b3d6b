import { Socket } from "node:net";

const LAST_WAIT_MS = 1000;

/** Writes lines to a pipe whose reader may have stopped reading. */
export interface NonBlockingWriter {
  write(text: string): void;
  /** Resolves once everything is read. Drops what is not read within a second. Call this last. */
  settle(): Promise<void>;
}

export interface NonBlockingOptions {
  /** Returns the line that replaces dropped ones. */
  omitted: (lines: number) => string;
  /** How much may wait for the reader; a multiple of the longest line. */
  maxBytes: number;
}

/**
 * Never waits for the reader, as a direct write to a full pipe would: output is buffered up to `maxBytes`, then dropped.
 * `omitted` returns the line that says how many lines are missing, once there is room again.
 */
export function openNonBlockingWriter(
  descriptor: number,
  { omitted, maxBytes }: NonBlockingOptions,
  onClosed: (error: NodeJS.ErrnoException) => void,
): NonBlockingWriter {
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
    write(text) {
      if (pipe.writableEnded || pipe.destroyed) return;
      if (pipe.writableLength + gathered.length + text.length > maxBytes) {
        missing += text.split("\n").length - 1;
        return;
      }
      if (gathered === "") setImmediate(flush);
      gathered += missing > 0 ? `${omitted(missing)}${text}` : text;
      missing = 0;
    },
    async settle() {
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

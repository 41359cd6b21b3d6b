import { Socket } from "node:net";

/** Maximum size of the buffer, in bytes: about 5,000 lines. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const LAST_WAIT_MS = 1000;

/** Writes lines to a pipe whose reader may have stopped reading. */
export interface NonBlockingWriter {
  write(text: string): void;
  /** Resolves once everything is read. Drops what is not read within a second. Call this last. */
  settle(): Promise<void>;
}

/**
 * Never waits for the reader, as a direct write to a full pipe would: output is buffered up to a limit, then dropped.
 * `omitted` returns the line that says how many lines are missing, once there is room again.
 */
export function openNonBlockingWriter(
  descriptor: number,
  omitted: (lines: number) => string,
  onClosed: (error: NodeJS.ErrnoException) => void,
): NonBlockingWriter {
  const pipe = new Socket({ fd: descriptor, readable: false, writable: true });
  pipe.on("error", onClosed);
  let missing = 0;
  let isGathering = false;
  /** Lines of one turn of the event loop share a system call. */
  const gather = () => {
    if (isGathering) return;
    isGathering = true;
    pipe.cork();
    setImmediate(() => {
      isGathering = false;
      pipe.uncork();
    });
  };
  return {
    write(text) {
      if (pipe.writableEnded || pipe.destroyed) return;
      if (pipe.writableLength + text.length > MAX_UNREAD_BYTES) {
        missing += text.split("\n").length - 1;
        return;
      }
      gather();
      if (missing > 0) pipe.write(omitted(missing));
      missing = 0;
      pipe.write(text);
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

const CODES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS"]);

/**
 * True if a connection failed because this process, or the machine, has no file descriptor left, or no memory for a socket:
 * the peer is not to blame.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

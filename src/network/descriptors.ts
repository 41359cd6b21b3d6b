const CODES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS"]);

/**
 * Returns true if a connection failed because this process, or the machine, has no file descriptor left, or no memory
 * for a socket: the peer is not at fault.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

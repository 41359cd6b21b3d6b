/** True if a connection failed because this process, or the machine, has no file descriptor left: the peer is not to blame. */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EMFILE" || code === "ENFILE";
}

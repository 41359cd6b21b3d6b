/** True where a file of this mode lets others than its owner in. Windows has no such modes. */
export function isOpenToOthers(mode: number, platform: NodeJS.Platform): boolean {
  return platform !== "win32" && (mode & 0o077) !== 0;
}

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "./errors.ts";

/** Makes a folder of its own among the system's temporary ones. Throws UserError where there is no room for one. */
export function makeTemporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(`Cannot use the temporary folder ${tmpdir()} (${code})`, {
      hint: "Set TMPDIR to a writable folder.",
      cause: error,
    });
  }
}

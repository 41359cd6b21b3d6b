import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "./errors.ts";

/** Creates a temporary folder. Throws UserError if there is no space for one. */
export function createTemporaryFolder(prefix: string): string {
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

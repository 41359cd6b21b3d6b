import { renameSync, writeFileSync } from "node:fs";
import { UserError } from "../../errors.ts";

/** Tells a script that events flow now, and how they are signed. It appears whole or not at all, for its owner alone. */
export function writeReadyFile(file: string, ready: { secret: string; forwardTo: URL | undefined }): void {
  const content = { secret: ready.secret, forward_to: ready.forwardTo?.href ?? null, pid: process.pid };
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(content)}\n`, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    throw new UserError(`--ready-file: ${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

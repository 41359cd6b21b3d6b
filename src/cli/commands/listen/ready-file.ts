import { access, constants, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { UserError } from "../../errors.ts";
import { replaceFile } from "./replace-file.ts";

/** Tells a script that events flow now, and how they are signed. It appears whole or not at all, for its owner alone. */
export async function writeReadyFile(
  file: string,
  ready: { secret: string; forwardTo: URL | undefined },
): Promise<void> {
  const content = { secret: ready.secret, forward_to: ready.forwardTo?.href ?? null, pid: process.pid };
  await explained(file, () => replaceFile(file, `${JSON.stringify(content)}\n`, 0o600));
}

/** Removes it: one of an earlier run would say ready too early, and one of a run that has ended is wrong. */
export async function removeReadyFile(file: string): Promise<void> {
  await explained(file, async () => {
    await access(dirname(file), constants.W_OK);
    await rm(file, { force: true });
  });
}

async function explained(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" || code === "ENOTDIR" ? `folder ${dirname(file)} does not exist` : message;
    throw new UserError(`--ready-file: cannot write ${file}: ${reason}`, { cause: error });
  }
}

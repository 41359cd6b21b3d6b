import { readFile, realpath, stat } from "node:fs/promises";
import { UserError } from "../../errors.ts";
import type { EnvTarget } from "./flag-values.ts";
import { replaceFile } from "./replace-file.ts";

/**
 * Sets one variable of an .env file and leaves the rest as it is, to the byte. A file that says so already is not
 * touched, so that what watches it does not restart. A new file is for its owner alone; one that is there keeps its mode:
 * a container may read it as another user.
 */
export async function writeEnvFile({ file, name }: EnvTarget, value: string): Promise<void> {
  try {
    const known = await readIfThere(file);
    const text = setVariable(known?.text ?? "", name, value);
    if (text === known?.text) return;
    await replaceFile(known?.path ?? file, Buffer.from(text, "latin1"), known?.mode ?? 0o600);
  } catch (error) {
    throw new UserError(`--write-env: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The text with the variable set: where it stands already, else in a line at the end. */
export function setVariable(text: string, name: string, value: string): string {
  const assignment = new RegExp(String.raw`^([ \t]*(?:export[ \t]+)?${name}[ \t]*=).*?(\r?)$`, "gm");
  if (assignment.test(text)) {
    return text.replace(assignment, (_line, start: string, end: string) => `${start}${value}${end}`);
  }
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const separator = text === "" || text.endsWith("\n") ? "" : lineEnd;
  return `${text}${separator}${name}=${value}${lineEnd}`;
}

/** A symbolic link is followed: the file that it leads to is the one that is replaced. */
async function readIfThere(file: string): Promise<{ path: string; text: string; mode: number } | undefined> {
  try {
    const path = await realpath(file);
    const { mode } = await stat(path);
    // Every byte is a character, so that a file in any encoding stays as it is.
    return { path, text: await readFile(path, "latin1"), mode: mode & 0o777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

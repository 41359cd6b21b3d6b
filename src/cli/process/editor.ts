import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { parseObject } from "../input.ts";
import { createTemporaryFolder } from "../temporary-folder.ts";

/** Opens a JSON object in the user's editor and returns it as it was saved. Throws UserError, also for an empty file. */
export async function editObject(object: Record<string, unknown>, context: Context): Promise<Record<string, unknown>> {
  const text = `${JSON.stringify(object, undefined, 2)}\n`;
  const saved = await editJson(text, "object", context);
  if (saved === text) throw new UserError("Nothing was sent: the object is unchanged", { code: "not_confirmed" });
  return parseObject(saved, "Nothing was sent: the file");
}

/**
 * Opens the text of a JSON object in the user's editor and returns it as it was saved. After a mistake, the editor opens
 * again with the mistake above the text. Throws UserError, also for an empty file and for a mistake that stays.
 */
export async function editJson(text: string, name: string, context: Context): Promise<string> {
  let shown = text;
  for (let before: string | undefined; ;) {
    const saved = (await editText(shown, `${name}.json`, context)).replace(/^(?:\/\/.*\n)+/, "");
    try {
      parseObject(saved, "Nothing was sent: the file");
      return saved;
    } catch (error) {
      const { message } = error as Error;
      if (saved === before) throw error;
      before = saved;
      const mistake = message.replace(/^Nothing was sent: t/, "T").replaceAll(/\s+/g, " ");
      shown = `// ${mistake}\n// Correct it, or save it unchanged to cancel.\n${saved}`;
    }
  }
}

/** Opens a text in the user's editor and returns it as it was saved. Throws UserError, also for an empty file. */
export async function editText(text: string, name: string, context: Context): Promise<string> {
  const folder = createTemporaryFolder("service-edit-");
  const file = join(folder, name);
  try {
    writeFileSync(file, text, { mode: 0o600 });
    await runEditor(file, context);
    const saved = readFileSync(file, "utf8");
    if (saved.trim() === "") throw new UserError("Nothing was sent: the file is empty", { code: "not_confirmed" });
    return saved;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `$VISUAL`, else `$EDITOR`; both may hold flags. */
function runEditor(file: string, { env, platform, signal }: Context): Promise<void> {
  const isWindows = platform === "win32";
  const editor = env["VISUAL"] || env["EDITOR"] || (isWindows ? "notepad" : "vi");
  const command = isWindows ? `${editor} "${file}"` : `${editor} "$1"`;
  const child = isWindows
    ? spawn(command, { shell: true, stdio: "inherit", env, signal })
    : spawn("/bin/sh", ["-c", command, "sh", file], { stdio: "inherit", env, signal });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      reject(signal.aborted ? signal.reason : new UserError(`Cannot run the editor ${editor}: ${error.message}`));
    });
    child.once("exit", (code) => {
      if (code === 0) return resolve();
      reject(
        new UserError(`Nothing was sent: the editor ${editor} exited with ${code ?? "a signal"}`, {
          hint: "Set EDITOR to the command of your editor.",
        }),
      );
    });
  });
}

import { statSync } from "node:fs";
import { isOpenToOthers } from "../../file-mode.ts";

/**
 * What to say of a file that holds a secret or payloads and that other users may read: it was there before, since those
 * that `listen` makes are for their owner alone. Undefined where all is well.
 */
export function openFileWarning(file: string, content: string, platform: NodeJS.Platform): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || !isOpenToOthers(stats.mode, platform)) return undefined;
  return `${file} contains ${content} and is readable by other users. Run: chmod 600 ${file}`;
}

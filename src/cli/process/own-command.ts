import { parseJson } from "../../contract/parse-json.ts";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ProcessGroup } from "./process-group.ts";

/** A line that a command printed with `--json`; undefined if it is not JSON. */
type JsonRecord = Record<string, unknown> | undefined;

interface OwnCommandOptions {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  cwd: string;
  /** All of the command's stdin. */
  input?: string | undefined;
  onStdout: (record: JsonRecord, line: string) => unknown;
  onStderr: (record: JsonRecord, line: string) => unknown;
}

/**
 * Starts one of this program's own commands in a separate process. `closed` resolves with its exit code after all of its
 * output, and rejects if it could not be started. It also stops if this process is killed.
 */
export function startCommand(
  args: readonly string[],
  options: OwnCommandOptions,
): { group: ProcessGroup; closed: Promise<number | null> } {
  const { env, platform, cwd, input, onStdout, onStderr } = options;
  const group = new ProcessGroup(process.execPath, [process.argv[1]!, ...args], {
    env,
    platform,
    cwd,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe", "ipc"],
  });
  const { stdin, stdout, stderr } = group.child;
  stdin?.on("error", () => {}).end(input);
  createInterface({ input: stdout! }).on("line", (line) => onStdout(parseJson(line) as JsonRecord, line));
  createInterface({ input: stderr! }).on("line", (line) => onStderr(parseJson(line) as JsonRecord, line));
  const closed = once(group.child, "close").then(([code]) => code as number | null);
  closed.catch(() => {});
  return { group, closed };
}

import { setTimeout as delay } from "node:timers/promises";
import { addressOf, isLoopback } from "../../../network/connect-options.ts";
import { acceptsConnections } from "../../../network/port-probe.ts";
import type { Context } from "../../context.ts";
import type { Console } from "./console.ts";
import { ProcessGroup } from "../../process/process-group.ts";

const POLL_MS = 50;
const CONNECT_MS = 500;

/** Starts the command of the app in a shell. Its input stays open and empty: some programs exit once it is closed. */
export function startApp(
  command: string,
  variables: Readonly<Record<string, string>>,
  { console, context }: { console: Console; context: Context },
): ProcessGroup {
  const { env, platform, cwd } = context;
  const color = console.hasColor && env["FORCE_COLOR"] === undefined ? { FORCE_COLOR: "1" } : {};
  // Without the trap, the shell would exit on a signal that the app handles, and hide the app's exit code.
  const script = platform === "win32" ? command : `trap : INT TERM HUP; ${command}`;
  const group = new ProcessGroup(script, [], {
    shell: true,
    cwd,
    platform,
    env: { ...env, ...color, ...variables },
    stdio: ["pipe", "pipe", "pipe"],
  });
  group.child.stdin!.on("error", () => {});
  for (const name of ["stdout", "stderr"] as const) {
    const { write, end } = console.appOutput(name);
    group.child[name]!.setEncoding("utf8").on("data", write).once("end", end);
  }
  return group;
}

/** Returns true for an address at which the app can be expected to listen. */
export function isLocal(target: URL | undefined): target is URL {
  return target !== undefined && isLoopback(target.hostname);
}

/** Returns whether an address accepts connections. */
export async function isListening(target: URL): Promise<boolean> {
  return (await acceptsConnections(addressOf(target), CONNECT_MS)) === true;
}

/** Resolves once the app accepts connections, or once the signal is aborted. */
export async function untilListening(target: URL, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isListening(target))) {
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

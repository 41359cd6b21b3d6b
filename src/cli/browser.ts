import type { ChildProcess } from "node:child_process";
import type { ProcessIo } from "./process-io.ts";

/** A program that only starts the browser has reported success or failure by then. */
const START_TIMEOUT_MILLISECONDS = 1500;

/** Opens a page in the browser. Returns false if it cannot. The URL is passed as an argument, never through a shell. */
export async function openInBrowser(url: string): Promise<boolean> {
  const { default: open } = await import("open");
  try {
    return await isStarted(await open(url));
  } catch {
    return false;
  }
}

function isStarted(starter: ChildProcess): Promise<boolean> {
  if (starter.exitCode !== null || starter.signalCode !== null) return Promise.resolve(starter.exitCode === 0);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), START_TIMEOUT_MILLISECONDS);
    const settle = (started: boolean): void => {
      clearTimeout(timer);
      resolve(started);
    };
    starter.on("error", () => settle(false));
    starter.once("exit", (code) => settle(code === 0));
    starter.unref();
  });
}

/**
 * Returns why no browser can be opened here, as a phrase that follows a verb: `over SSH`. Returns undefined if one
 * probably can.
 */
export function whyNoBrowser({
  env,
  platform,
  stderr,
}: Pick<ProcessIo, "env" | "platform" | "stderr">): string | undefined {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"] || env["SSH_CLIENT"]) return "over SSH";
  if (env["CI"]) return "in CI";
  if (platform === "linux" && !env["DISPLAY"] && !env["WAYLAND_DISPLAY"] && !env["WSL_DISTRO_NAME"]) {
    return "without a display";
  }
  return stderr.isTTY ? undefined : "without a terminal";
}

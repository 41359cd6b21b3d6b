import type { Context } from "./context.ts";

/**
 * Returns why no browser can be opened here, as a phrase that follows a verb: `over SSH`. Returns undefined if one
 * probably can.
 */
export function whyNoBrowser({ env, platform, stderr }: Context): string | undefined {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"] || env["SSH_CLIENT"]) return "over SSH";
  if (env["CI"]) return "in CI";
  if (platform === "linux" && !env["DISPLAY"] && !env["WAYLAND_DISPLAY"] && !env["WSL_DISTRO_NAME"]) {
    return "without a display";
  }
  return stderr.isTTY ? undefined : "without a terminal";
}

import { whyNoBrowser } from "../../browser-availability.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { LoginFlags } from "./index.ts";

/** How a person will sign in; `why` says what decided it where they did not. */
export type Flow = { kind: "browser"; open: boolean } | { kind: "device"; why: string | undefined };

/** What was asked for; else a code wherever no browser can open here. */
export function chooseFlow({ device, browser, callbackPort }: LoginFlags, context: Context): Flow {
  if (device === true) {
    if (browser !== undefined || callbackPort !== undefined) {
      const other = callbackPort === undefined ? `--${browser === true ? "" : "no-"}browser` : "--callback-port";
      throw new UsageError(`--device cannot be combined with ${other}`);
    }
    return { kind: "device", why: undefined };
  }
  if (browser !== undefined) return { kind: "browser", open: browser };
  const why = callbackPort === undefined ? whyNoBrowser(context) : undefined;
  return why === undefined ? { kind: "browser", open: true } : { kind: "device", why };
}

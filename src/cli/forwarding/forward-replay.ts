import { isSuccess } from "../../contract/is-success.ts";
import type { Replay } from "../../contract/schemas/event.ts";
import type { ForwardedReport } from "../../relay/report.ts";
import { listenTargets } from "../../relay/run.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { formatDuration } from "../terminal/time.ts";
import { readForwardingOptions } from "./options.ts";
import { accessPlatform, listenBriefly } from "./platform-access.ts";

/**
 * Listens for one event, replays it once the platform would send it here, and forwards it to an application on this
 * machine. Resolves with the replay, and with the response in words or why the application did not accept the event.
 */
export async function forwardReplay(
  id: string,
  target: string,
  replay: () => Promise<Replay>,
  context: Context,
): Promise<{ replayed: Replay; response?: string; failure?: UserError }> {
  const { signal } = context;
  const { options } = readForwardingOptions({ forwardTo: target }, context);
  const platform = await accessPlatform(context);
  let replaying: Promise<Replay> | undefined;
  let forwarded: ForwardedReport | undefined;
  const filter = (event: { id: string }): boolean => event.id === id;
  // With its target, the attempt belongs to the delivery that failed.
  const targets = { targets: listenTargets(options), once: true };
  const run = { ...options, ...targets, filter, waitMs: 0, hasWaited: false, signal };
  await listenBriefly(platform, run, (report, stop) => {
    if (report.event === "ready") {
      replaying = replay();
      replaying.catch(stop);
    }
    if (report.event !== "forwarded") return;
    forwarded = report;
    stop();
  });
  const replayed = await replaying;
  if (replayed === undefined || forwarded === undefined) throw signal.reason;
  const { status, failure, url, durationMs, hint } = forwarded;
  if (isSuccess(status))
    return { replayed, response: `${url.href} responded with ${status} in ${formatDuration(durationMs)}` };
  const message = failure === undefined ? `${url.href} responded with ${status}` : `${url.href}: ${failure.message}`;
  return { replayed, failure: new UserError(message, { code: "forward_failed", hint }) };
}

import { isSuccess } from "../../contract/is-success.ts";
import type { Replay } from "../../contract/schemas/event.ts";
import type { ForwardedReport } from "../../relay/report.ts";
import { Run } from "../../relay/run.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { formatDuration } from "../terminal/time.ts";
import { readForwardingOptions } from "./options.ts";
import { accessPlatform, explainListenError } from "./platform-access.ts";

const TIMEOUT_MS = 10_000;

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
  const flags = { forwardTo: target, route: [], header: [], ordered: false, skipVerify: false };
  const { options } = readForwardingOptions({ ...flags, concurrency: 1, retries: 0, timeout: TIMEOUT_MS }, context);
  const platform = await accessPlatform(context);
  let replaying: Promise<Replay> | undefined;
  let forwarded: ForwardedReport | undefined;
  const run = new Run({
    ...platform,
    ...options,
    after: "now",
    waitMs: 0,
    filter: (event) => event.id === id,
    report(report) {
      if (report.event === "ready") {
        replaying = replay();
        replaying.catch(stop);
      }
      if (report.event !== "forwarded") return;
      forwarded = report;
      stop();
    },
  });
  const stop = () => void run.stop();
  signal.addEventListener("abort", stop, { once: true });
  run.start();
  const { error } = await run.ended;
  signal.removeEventListener("abort", stop);
  if (error !== undefined) throw explainListenError(error, platform, false);
  const replayed = await replaying;
  if (replayed === undefined || forwarded === undefined) throw signal.reason;
  const { status, failure, url, durationMs, hint } = forwarded;
  if (isSuccess(status))
    return { replayed, response: `${url.href} responded with ${status} in ${formatDuration(durationMs)}` };
  const message = failure === undefined ? `${url.href} responded with ${status}` : `${url.href}: ${failure.message}`;
  return { replayed, failure: new UserError(message, { code: "forward_failed", hint }) };
}

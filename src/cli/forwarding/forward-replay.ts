import { isSuccess } from "../../contract/is-success.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { counted } from "../../contract/words.ts";
import type { ForwardedReport } from "../../relay/report.ts";
import { listenTargets } from "../../relay/run.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { formatDuration } from "../terminal/time.ts";
import { readForwardingOptions } from "./options.ts";
import { accessPlatform, listenBriefly } from "./platform-access.ts";

/** What is replayed, and where it is forwarded. */
export interface Replays {
  /** `--forward-to` */
  target: string;
  /** The event, if it is only one. */
  id?: string;
  /** Starts the replays, and resolves with their number. Called once the platform would send them here. */
  replay: () => Promise<number>;
}

/** What the application responded. */
export interface Responses {
  response?: string;
  failure?: UserError;
}

/**
 * Replays events while it listens, and forwards them to an application on this machine. Resolves with the responses in
 * words, or with how many events the application did not accept.
 */
export async function forwardReplays({ target, id, replay }: Replays, context: Context): Promise<Responses> {
  const { signal } = context;
  const { options } = readForwardingOptions({ forwardTo: target }, context);
  const platform = await accessPlatform(context);
  let replaying: Promise<number> | undefined;
  let expected = Infinity;
  const outcomes: ForwardedReport[] = [];
  const filter = (event: { id: string }, isReplay: boolean): boolean => isReplay && (id ?? event.id) === event.id;
  // With its target, the attempt belongs to the delivery that failed.
  const targets = { targets: listenTargets(options), once: true };
  const run = { ...options, ...targets, filter, waitMs: 0, hasWaited: false, signal };
  await listenBriefly(platform, run, (report, stop) => {
    const stopIfOver = (): void => void (outcomes.length >= expected && stop());
    if (report.event === "ready") {
      replaying = replay();
      replaying.then((count) => {
        expected = count;
        stopIfOver();
      }, stop);
    }
    if (report.event !== "forwarded") return;
    outcomes.push(report);
    stopIfOver();
  });
  if ((await replaying) === undefined || outcomes.length < expected) throw signal.reason;
  return summaryOf(outcomes);
}

function summaryOf(outcomes: readonly ForwardedReport[]): Responses {
  const failed = outcomes.find(({ status }) => !isSuccess(status));
  const { status, failure, url, durationMs, hint, id } = failed ?? outcomes[0] ?? {};
  if (url === undefined) return {};
  const last = failure === undefined ? `${url.href} responded with ${status}` : `${url.href}: ${failure.message}`;
  if (outcomes.length === 1) {
    if (failed === undefined) return { response: `${last} in ${formatDuration(durationMs!)}` };
    return { failure: new UserError(last, { code: "forward_failed", hint }) };
  }
  const count = outcomes.filter((one) => isSuccess(one.status)).length;
  const accepted = `${url.href} accepted ${count} of ${counted(outcomes.length, "event")}`;
  if (failed === undefined) return { response: accepted };
  const advice = shellCommand`For the likely cause of the first failure: service why ${id!}`;
  return { failure: new UserError(`${accepted}: ${last}`, { code: "forward_failed", hint: advice }) };
}

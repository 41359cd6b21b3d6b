import { assertSigningSecret, Forwarding, type ForwardingOptions } from "./forwarding.ts";
import { systemClock, type Clock } from "./ports.ts";
import type { RecordedEvent } from "./recording.ts";
import type { Report, Summary } from "./report.ts";

/** Events that have been read and have not ended, at most: recordings may be larger than memory. */
const WAITING_MOST = 1_024;

export interface ReplayOptions extends ForwardingOptions {
  secret: string;
  /** How much faster than it was recorded; Infinity waits for nothing. */
  speed: number;
  signal: AbortSignal;
  report: (report: Report) => void;
}

/**
 * Sends a recording again, newly signed. Resolves with the account once all has ended, or after an abort; where `events`
 * throws, what came before it is brought to its end first. `events` has to end by itself when the signal aborts.
 */
export async function replay(
  events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>,
  options: ReplayOptions,
): Promise<Summary> {
  const { secret, speed, signal, report, clock = systemClock } = options;
  assertSigningSecret(secret);
  let waiting = 0;
  let resume = () => {};
  const forwarding = new Forwarding<RecordedEvent>(options, {
    secret: () => secret,
    settled: () => {
      waiting -= 1;
      resume();
    },
    report,
  });
  const waitUntil = async (isMet: () => boolean) => {
    while (!isMet() && !signal.aborted) await new Promise<void>((resolve) => (resume = resolve));
  };
  const onAbort = () => resume();
  signal.addEventListener("abort", onAbort);
  const startedAt = clock.now();
  let first: number | undefined;
  const finish = async (): Promise<Summary> => {
    await waitUntil(() => waiting === 0);
    signal.removeEventListener("abort", onAbort);
    await new Promise<void>((resolve) => forwarding.windUp(resolve));
    const summary = forwarding.close(0);
    report({ event: "summary", ...summary });
    return summary;
  };
  try {
    for await (const event of events) {
      first ??= event.at;
      await waitUntilDue(startedAt + (event.at - first) / speed, clock, signal);
      await waitUntil(() => waiting < WAITING_MOST);
      if (signal.aborted) break;
      report({ event: "received", id: event.id, type: event.type, body: event.body });
      if (forwarding.add(event)) waiting += 1;
    }
  } catch (error) {
    await finish();
    throw error;
  }
  return await finish();
}

async function waitUntilDue(due: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const wait = due - clock.now();
  if (!(wait > 0) || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(wait, done);
    function done(): void {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}

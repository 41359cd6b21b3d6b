import { LIMITS } from "../../contract/limits.ts";
import { acceptedAll, type Check, type Finding, skipped } from "../check.ts";
import type { Scheme } from "../../webhooks/schemes.ts";
import { formatDuration, formatResponse, isAccepted, type Response } from "../exchange.ts";
import { firstTypeOf, isPlatform, LARGEST_PAYLOAD, type Provider, typeHeaderOf, typePathOf } from "../samples.ts";
import { saidMistake } from "../signing-mistake.ts";

type FirstCheck = Omit<Check, "run">;

const SENT = "A valid delivery";

/** The two checks that the first delivery decides. */
export const VALID_DELIVERY: FirstCheck = {
  id: "valid-delivery",
  title: "Accepts a valid delivery",
  group: "Accepting",
  level: "required",
  explanation: "A delivery without a 2xx response has failed: the provider retries it, or drops it.",
  fix: "Check that the secret is the receiver's, complete and with its prefix, if it has one, that the receiver verifies the raw body, and that the URL is its webhook route.",
};

export function respondsInTime(provider: Provider): FirstCheck {
  const seconds = timeoutOf(provider);
  return {
    id: "responds-in-time",
    title: `Responds within ${seconds} s`,
    group: "Accepting",
    level: "required",
    explanation: `After ${seconds} s the delivery counts as failed, although the receiver may have processed it.`,
    fix: "Verify, store the event and respond with 2xx. Do the work afterwards, from a queue or a table.",
  };
}

/** Returns how many seconds the provider waits for a response. */
export function timeoutOf({ scheme: { timeout = LIMITS.deliverySeconds }, timeoutMs = timeout * 1000 }: Provider) {
  return timeoutMs / 1000;
}

/** Returns both results from the response to the first delivery. */
export function judgeFirst(response: Response, scheme: Scheme): [valid: Finding, inTime: Finding] {
  const seen = formatResponse(response);
  if (response.failure?.kind === "timeout") {
    return [skipped(SENT, "No response in time"), { status: "failed", sent: SENT, seen }];
  }
  const inTime: Finding = {
    status: "passed",
    sent: SENT,
    seen: `response in ${formatDuration(response.milliseconds)}${response.isRepeated ? " at the second try" : ""}`,
  };
  if (isAccepted(response)) return [{ status: "passed", sent: SENT, seen }, inTime];
  return [{ status: "failed", sent: SENT, seen, ...adviceFor(response, scheme) }, inTime];
}

/** Without a connection, there is nothing to check. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
  readonly fix: string;

  constructor({ failure }: Response) {
    super(failure?.message);
    this.fix =
      failure?.kind === "refused"
        ? "Start the receiver, and check the port."
        : "Check the receiver's log: it may have crashed, or not support this protocol.";
  }
}

function adviceFor({ status = 0, excerpt, location }: Response, scheme: Scheme): Pick<Finding, "fix"> {
  const said = saidMistake(excerpt, scheme);
  if (said !== undefined) return { fix: said };
  if (status >= 500) return { fix: "Check the receiver's log: a valid delivery caused an error." };
  if (status === 404 || status === 405) return { fix: "Check the path: nothing there accepts a POST." };
  if (status >= 300 && status < 400) {
    const fix = location === undefined ? "Respond with 2xx in the receiver itself" : "Pass the final URL";
    return { fix: `${fix}: redirects are not followed.` };
  }
  if (status === 403) {
    return {
      fix: "Check that the secret is the receiver's. Frameworks also respond with 403 if CSRF protection applies to the route.",
    };
  }
  return {};
}

const MINUTE_MILLISECONDS = 60_000;

const ONE_PAYLOAD = "Not checked: needs two events about the same object, and there is one payload";

/** Returns why deliveries cannot be of another type. */
function typeless({ scheme, template }: Provider): string | false {
  if (template === undefined || template.type !== undefined || typeHeaderOf(scheme) !== undefined) return false;
  return `Not checked: the payload has no event type at ${typePathOf(scheme)}`;
}

export const accepting = (provider: Provider): readonly Check[] => [
  {
    id: "unknown-event-type",
    notApplicable: typeless(provider),
    title: "Accepts an unknown event type with 2xx",
    group: "Accepting",
    level: "required",
    explanation:
      "Event types are added over time. Without a 2xx response, their deliveries fail, and the endpoint looks broken.",
    fix: "Verify, then respond with 2xx to every type. Ignore unknown types.",
    async run(subject) {
      const { type, sample, deviation } = subject.unknownType();
      const response = await subject.deliver(sample, deviation);
      return acceptedAll(`A valid delivery of type ${type}`, [{ name: type, response }]);
    },
  },
  {
    id: "any-order",
    notApplicable: !isPlatform(provider) && ONE_PAYLOAD,
    title: "Accepts events in any order",
    group: "Accepting",
    level: "required",
    explanation: "Order is not guaranteed: a later event may arrive before an earlier one about the same object.",
    fix: "Do not reject an event because an earlier one is missing. Compare `created`, or read the object again.",
    async run(subject) {
      const later = subject.event();
      const { id } = later.data.object;
      const earlier = subject.event(firstTypeOf(subject.eventType), subject.clock.now() - MINUTE_MILLISECONDS);
      earlier.data.object["id"] = id;
      const variants = [];
      for (const event of [later, earlier])
        variants.push({
          name: event.type,
          response: await subject.deliver({ id: event.id, body: JSON.stringify(event) }),
        });
      return acceptedAll(`${later.type}, then ${earlier.type} of the same object, created a minute before`, variants);
    },
  },
  {
    id: "repeated-delivery",
    title: "Accepts a repeated delivery with 2xx",
    group: "Accepting",
    level: "required",
    explanation: "Delivery is at least once. A duplicate without a 2xx response counts as a failed delivery.",
    fix: "If the event's ID is already stored, respond with 2xx and do nothing else.",
    async run(subject) {
      const sample = subject.sample();
      const first = await subject.deliver(sample);
      const second = await subject.deliver(sample, { attempt: 2 });
      return acceptedAll("The same event twice, one after the other", [
        { name: "first", response: first },
        { name: "second", response: second },
      ]);
    },
  },
];

const DELIVERIES = 100;
/** Maximum size of all deliveries of a burst. More would test the memory of this machine. */
const BURST_BYTES = LARGEST_PAYLOAD * 4;

export const LOAD: readonly Check[] = [
  {
    id: "burst-of-100",
    title: "Handles a burst of 100 without a 5xx",
    group: "Load",
    level: "advisory",
    explanation:
      "Imports and replays send many events at once. Failed deliveries are retried later, so nothing is lost, but late.",
    fix: "Store the event, respond, and do the work later, so that a response is cheap.",
    async run(subject) {
      const limitMilliseconds = timeoutOf(subject.provider) * 1000;
      const size = Buffer.byteLength(subject.sample().body);
      const length = Math.max(1, Math.min(DELIVERIES, Math.floor(BURST_BYTES / Math.max(1, size))));
      const burst = async (): Promise<Response[]> =>
        await Promise.all(
          Array.from({ length }, () => subject.deliver(subject.sample(), { limitMilliseconds, repeats: false })),
        );
      let responses = await burst();
      if (responses.some(({ failure }) => failure?.kind === "timeout")) responses = await burst();
      const sent = `${length} valid deliveries at once`;
      const failed = responses.filter(({ status }) => status === undefined || status >= 500);
      const slowest = Math.max(...responses.map(({ milliseconds }) => milliseconds));
      if (failed.length === 0) return { status: "passed", sent, seen: `all responses within ${Math.ceil(slowest)} ms` };
      return {
        status: "failed",
        sent,
        seen: `${failed.length} of ${length} failed, the first: ${formatResponse(failed[0]!)}`,
      };
    },
  },
];

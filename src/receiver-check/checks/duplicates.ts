import { type Check, type Finding, skipped } from "../check.ts";
import { type Observer, ObserverError } from "../observer.ts";
import { Effects, PATIENCE_MILLISECONDS } from "../effects.ts";
import { formatDuration, isAccepted } from "../exchange.ts";
import { isPlatform, type Provider } from "../samples.ts";
import type { Subject } from "../subject.ts";

const PATIENCE_IN_WORDS = formatDuration(PATIENCE_MILLISECONDS);

const COPIES = 8;
const EVENTS_AT_ONCE = 3;

const common = ({ scheme, template }: Provider) =>
  ({
    group: "Duplicates",
    level: "required",
    notApplicable:
      (scheme.id === undefined && "The scheme has no ID of a delivery") ||
      (template?.hasId === false && `A form of ${scheme.name} has no ID of a delivery`),
  }) as const;

/** Only effects reveal it: a receiver that acts twice also returns 2xx twice. */
export const duplicates = (provider: Provider): readonly Check[] => [
  {
    ...common(provider),
    id: "duplicate-in-turn",
    title: "Processes a repeated event once",
    explanation:
      "Delivery is at least once: every event may arrive again, even hours later, and would be processed again: a second payout, a second parcel.",
    fix: "Store the event's ID under a unique constraint, in the same transaction as the work or before it, and do nothing if it already exists.",
    run: (subject) =>
      observed(subject, "The same event twice in sequence, then another one with the same contents", inTurn),
  },
  {
    ...common(provider),
    id: "duplicate-at-once",
    title: "Processes concurrent duplicates once",
    explanation:
      "Two deliveries of one event may be processed concurrently. Checking whether the ID exists and storing it later leaves a gap through which both pass.",
    fix: "Let the database decide: insert the id first (INSERT … ON CONFLICT DO NOTHING), and act only where a row was inserted.",
    run: (subject) =>
      observed(subject, `${EVENTS_AT_ONCE} events, ${COPIES} times each at once, then another one`, atOnce),
  },
];

async function observed(
  subject: Subject,
  sent: string,
  judge: (subject: Subject, observer: Observer) => Promise<Pick<Finding, "status" | "seen" | "explanation" | "fix">>,
): Promise<Finding> {
  const { observer } = subject;
  if (observer === undefined) {
    return skipped(sent, "Responses do not show what a receiver has done: pass --probe URL or --effects");
  }
  if (subject.noEffects !== undefined) return skipped(sent, subject.noEffects);
  try {
    return { sent, ...(await judge(subject, observer)) };
  } catch (error) {
    if (error instanceof ObserverError) return skipped(sent, error.message);
    throw error;
  }
}

async function inTurn(subject: Subject, observer: Observer): Promise<Omit<Finding, "sent">> {
  const event = subject.sample();
  const sameAgain = subject.sampleLike(event);
  const other = subject.sampleOfOtherObject();
  const effects = await Effects.countFor(
    [event, sameAgain, other].map(({ id }) => id),
    observer,
    subject.clock,
  );
  await subject.deliver(event);
  if ((await effects.reach(1)) === 0) {
    await subject.deliver(other);
    return (await effects.reach(1)) === 0 ? unseen(observer, subject) : onlyFirst(observer, subject);
  }
  await subject.deliver(event, { attempt: 2 });
  await subject.deliver(sameAgain);
  return verdict(await effects.settle(2), 2, observer);
}

async function atOnce(subject: Subject, observer: Observer): Promise<Omit<Finding, "sent">> {
  const events = Array.from({ length: EVENTS_AT_ONCE }, () => subject.sample());
  const last = subject.sample();
  const ids = [...events, last].map(({ id }) => id);
  const effects = await Effects.countFor(ids, observer, subject.clock);
  for (const event of events) {
    const copies = Array.from({ length: COPIES }, (_, i) => subject.deliver(event, { attempt: i + 1 }));
    const responses = await Promise.all(copies);
    // Copies that arrive while the first one is processed may be rejected: the platform would send them again.
    if (!responses.some(isAccepted)) await subject.deliver(event, { attempt: COPIES + 1 });
  }
  await subject.deliver(last);
  const expected = ids.length;
  const count = await effects.settle(expected);
  return count === 0 ? unseen(observer, subject) : verdict(count, expected, observer);
}

function verdict(count: number, expected: number, observer: Observer): Omit<Finding, "sent"> {
  const effects = `${count} effects of ${expected} events`;
  const seen = `${effects}, counted by ${observer.name}`;
  if (count === expected) return { status: "passed", seen };
  if (count > expected) return { status: "failed", seen };
  return {
    status: "failed",
    seen: `${effects} within ${PATIENCE_IN_WORDS}, counted by ${observer.name}`,
    ...BY_OBJECT,
  };
}

const BY_OBJECT = {
  explanation: "Events with IDs of their own were not processed, as if they were duplicates of another one.",
  fix: "Detect duplicates by the event's ID only: two events may have the same contents about the same object.",
};

/** The receiver has already processed an event about the object of the payload. */
function onlyFirst(observer: Observer, subject: Subject): Omit<Finding, "sent"> {
  subject.noEffects = "The receiver processes one event of each object only";
  return {
    status: "failed",
    seen: `no effect of an event about an object that the receiver knows, one of an event about another object, counted by ${observer.name}`,
    ...BY_OBJECT,
    fix: `${BY_OBJECT.fix} This receiver detects them by the object's ID.`,
  };
}

function unseen({ name, advice }: Observer, subject: Subject): Omit<Finding, "sent"> {
  const other = isPlatform(subject.provider) ? "--type" : "--payload";
  subject.noEffects = `${name} counted nothing within ${PATIENCE_IN_WORDS}: ${advice}. If it ignores this type of event, choose another one with ${other}`;
  return { status: "skipped", seen: subject.noEffects };
}

import type { Check } from "../check.ts";
import { acceptedAll } from "../findings.ts";
import { firstTypeOf } from "../sample-events.ts";

const UNKNOWN_TYPE = "order.reviewed_by_a_later_version";
const MINUTE_MILLISECONDS = 60_000;

export const ACCEPTING: readonly Check[] = [
  {
    id: "unknown-event-type",
    title: "Accepts an unknown event type with 2xx",
    group: "Accepting",
    rule: "docs/receiving-webhooks.md#deliveries",
    level: "required",
    explanation:
      "Event types are added over time. A delivery without a 2xx response is retried for three days, and the endpoint looks broken.",
    fix: "Verify, then respond with 2xx to every type. Ignore unknown types.",
    async run(subject) {
      const response = await subject.deliver(subject.event(UNKNOWN_TYPE));
      return acceptedAll(`A valid delivery of type ${UNKNOWN_TYPE}`, [{ name: UNKNOWN_TYPE, response }]);
    },
  },
  {
    id: "any-order",
    title: "Accepts events in any order",
    group: "Accepting",
    rule: "docs/receiving-webhooks.md#deliveries",
    level: "required",
    explanation: "Order is not guaranteed: a later event may arrive before an earlier one about the same object.",
    fix: "Do not reject an event because an earlier one is missing. Compare `created`, or read the object again.",
    async run(subject) {
      const later = subject.event();
      const { id } = later.data.object;
      const earlier = subject.event(
        firstTypeOf(subject.eventType),
        subject.clock.unixMilliseconds() - MINUTE_MILLISECONDS,
      );
      earlier.data.object["id"] = id;
      const variants = [];
      for (const event of [later, earlier]) variants.push({ name: event.type, response: await subject.deliver(event) });
      return acceptedAll(`${later.type}, then ${earlier.type} of the same object, created a minute before`, variants);
    },
  },
  {
    id: "repeated-delivery",
    title: "Accepts a repeated delivery with 2xx",
    group: "Accepting",
    rule: "docs/receiving-webhooks.md#deliveries",
    level: "required",
    explanation: "Delivery is at least once. A duplicate without a 2xx response is retried for three days.",
    fix: "If the event's ID is already stored, respond with 2xx and do nothing else.",
    async run(subject) {
      const event = subject.event();
      const first = await subject.deliver(event);
      const second = await subject.deliver(event, { attempt: 2 });
      return acceptedAll("The same event twice, one after the other", [
        { name: "first", response: first },
        { name: "second", response: second },
      ]);
    },
  },
];

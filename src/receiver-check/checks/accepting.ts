import type { Check } from "../check.ts";
import { acceptedAll } from "../findings.ts";
import { firstTypeOf } from "../sample-events.ts";

const UNKNOWN_TYPE = "order.reviewed_by_a_later_version";
const MINUTE_MILLISECONDS = 60_000;

export const ACCEPTING: readonly Check[] = [
  {
    id: "unknown-event-type",
    title: "Answers an unknown event type with 2xx",
    group: "Accepting",
    rule: "Platform specification 6, delivery rules 1 and 2",
    level: "required",
    explanation:
      "Event types are added over time. What is not answered with 2xx is sent again for three days, and the endpoint looks broken.",
    fix: "Verify, then answer 2xx for every type; ignore the ones that the application does not know.",
    async run(subject) {
      const answer = await subject.deliver(subject.event(UNKNOWN_TYPE));
      return acceptedAll(`A valid delivery of type ${UNKNOWN_TYPE}`, [{ name: UNKNOWN_TYPE, answer }]);
    },
  },
  {
    id: "any-order",
    title: "Accepts events in any order",
    group: "Accepting",
    rule: "Platform specification 6, delivery rule 5",
    level: "required",
    explanation: "No order is promised: a later event may arrive before an earlier one about the same object.",
    fix: "Do not reject an event because one before it is missing: compare `created`, or read the object anew.",
    async run(subject) {
      const later = subject.event();
      const { id } = later.data.object;
      const earlier = subject.event(
        firstTypeOf(subject.eventType),
        subject.clock.unixMilliseconds() - MINUTE_MILLISECONDS,
      );
      earlier.data.object["id"] = id;
      const variants = [];
      for (const event of [later, earlier]) variants.push({ name: event.type, answer: await subject.deliver(event) });
      return acceptedAll(`${later.type}, then ${earlier.type} of the same object, created a minute before`, variants);
    },
  },
  {
    id: "repeated-delivery",
    title: "Answers a repeated delivery with 2xx",
    group: "Accepting",
    rule: "Platform specification 6, delivery rules 1 and 4",
    level: "required",
    explanation:
      "Deliveries come at least once. A repetition that is not answered with 2xx is sent again for three days.",
    fix: "Where the event's id is stored already, answer 2xx and do nothing more.",
    async run(subject) {
      const event = subject.event();
      const first = await subject.deliver(event);
      const second = await subject.deliver(event, { attempt: 2 });
      return acceptedAll("The same event twice, one after the other", [
        { name: "first", answer: first },
        { name: "second", answer: second },
      ]);
    },
  },
];

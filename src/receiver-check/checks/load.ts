import { LIMITS } from "../../contract/limits.ts";
import { inWords } from "../answer.ts";
import type { Check } from "../check.ts";

const DELIVERIES = 100;

export const LOAD: readonly Check[] = [
  {
    id: "burst-of-100",
    title: "Answers a burst of 100 without a 5xx",
    group: "Load",
    rule: "Platform specification 6, delivery rules 1, 2 and 8",
    level: "advisory",
    explanation:
      "Imports and replays send many events at once. What fails comes again later, so nothing is lost, but late.",
    fix: "Store the event, answer, and work later, so that an answer costs next to nothing.",
    async run(subject) {
      const limitMilliseconds = LIMITS.deliverySeconds * 1000;
      const answers = await Promise.all(
        Array.from({ length: DELIVERIES }, () => subject.deliver(subject.event(), { limitMilliseconds })),
      );
      const sent = `${DELIVERIES} valid deliveries at once`;
      const failed = answers.filter(({ status }) => status === undefined || status >= 500);
      const slowest = Math.max(...answers.map(({ milliseconds }) => milliseconds));
      if (failed.length === 0) return { status: "passed", sent, seen: `all answered within ${Math.ceil(slowest)} ms` };
      return {
        status: "failed",
        sent,
        seen: `${failed.length} of ${DELIVERIES} failed, the first: ${inWords(failed[0]!)}`,
      };
    },
  },
];

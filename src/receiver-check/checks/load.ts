import { LIMITS } from "../../contract/limits.ts";
import { formatResponse } from "../response.ts";
import type { Check } from "../check.ts";

const DELIVERIES = 100;

export const LOAD: readonly Check[] = [
  {
    id: "burst-of-100",
    title: "Handles a burst of 100 without a 5xx",
    group: "Load",
    rule: "docs/receiving-webhooks.md#deliveries",
    level: "advisory",
    explanation:
      "Imports and replays send many events at once. Failed deliveries are retried later, so nothing is lost, but late.",
    fix: "Store the event, respond, and do the work later, so that a response is cheap.",
    async run(subject) {
      const limitMilliseconds = LIMITS.deliverySeconds * 1000;
      const responses = await Promise.all(
        Array.from({ length: DELIVERIES }, () => subject.deliver(subject.event(), { limitMilliseconds })),
      );
      const sent = `${DELIVERIES} valid deliveries at once`;
      const failed = responses.filter(({ status }) => status === undefined || status >= 500);
      const slowest = Math.max(...responses.map(({ milliseconds }) => milliseconds));
      if (failed.length === 0) return { status: "passed", sent, seen: `all responses within ${Math.ceil(slowest)} ms` };
      return {
        status: "failed",
        sent,
        seen: `${failed.length} of ${DELIVERIES} failed, the first: ${formatResponse(failed[0]!)}`,
      };
    },
  },
];

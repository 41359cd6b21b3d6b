import { expect, it } from "vitest";
import { causeOf } from "../../src/explain/causes.ts";

it("the cause of a timeout names the time limit that the attempt had", () => {
  const receiver = {
    endpoint: "we_1",
    name: "Billing",
    url: "",
    shownUrl: "",
    host: "",
    isLive: false,
    again: "retry",
  };
  const outcome = { status_code: null, error: "timeout: no complete response within 0.1 s", delivery: undefined };
  expect(causeOf(outcome, receiver).what).toBe("Billing did not respond within 0.1 s");
});

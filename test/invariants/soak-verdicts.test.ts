import { expect, it, onTestFinished } from "vitest";
// @ts-expect-error -- the soak is plain JavaScript
import { startReceiver } from "../../soak/receivers.js";
// @ts-expect-error -- the soak is plain JavaScript
import { reportOf } from "../../soak/report.js";
// @ts-expect-error -- the soak is plain JavaScript
import { judge } from "../../soak/verdicts.js";
import { sign } from "../../src/webhooks/index.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Judges a run with one receiver, which got these deliveries; the write of `ord_1` was acknowledged. */
async function reportAfter(deliveries: readonly { id: string; secret?: string }[]) {
  const receiver = await startReceiver({ secrets: () => SECRET });
  onTestFinished(() => receiver.close());
  for (const { id, secret = SECRET } of deliveries) {
    const event = { id: `evt_${id}`, type: "order.created", data: { object: { id } } };
    const payload = JSON.stringify(event);
    const headers = { "Service-Signature": sign({ payload, secrets: secret }) };
    await fetch(receiver.url, { method: "POST", body: payload, headers });
  }
  const run = {
    receivers: { steady: receiver },
    expected: new Set(["order.created ord_1"]),
    planned: 1,
    processes: [],
    platforms: [],
    samples: {},
    retained: {},
    kills: [[1, "platform"]],
    pending: 0,
    violations: [],
  };
  return reportOf({ ...run, title: "soak", verdicts: judge(run) }) as { text: string; isMet: boolean };
}

it("a soak passes and shows each figure if every acknowledged event was verified", async () => {
  const { text, isMet } = await reportAfter([{ id: "ord_1" }]);
  expect(isMet, text).toBe(true);
  expect(text).not.toContain("undefined");
});

it.each([
  ["Acknowledged events that a receiver never verified", []],
  ["Verified events of no acknowledged write", [{ id: "ord_1" }, { id: "ord_2" }]],
  ["Rejected signatures", [{ id: "ord_1" }, { id: "ord_1", secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }]],
  ["Events verified again", [{ id: "ord_1" }, { id: "ord_1" }]],
])("a soak fails with: %s", async (what, deliveries) => {
  const { text, isMet } = await reportAfter(deliveries);
  expect(isMet).toBe(false);
  expect(text.split("\n").filter((line) => line.includes("**NO**"))).toEqual([
    expect.stringMatching(new RegExp(`^\\| ${what} .* steady 1 \\| \\*\\*NO\\*\\* \\|$`)),
  ]);
});

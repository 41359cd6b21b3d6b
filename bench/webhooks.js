// The webhooks library: verifying and parsing a delivery, against the same steps with bare node:crypto.
import { createHmac, timingSafeEqual } from "node:crypto";
import { pathToFileURL } from "node:url";
import { atLeast } from "./goals.js";
import { BIN, median } from "./measure.js";
import { benchSchemes } from "./schemes.js";

const { verify, verifyAsync } = await import(new URL("../dist/webhooks/index.js", pathToFileURL(BIN)));

const SECRET = `whsec_${"k".repeat(43)}`;
const ROUNDS = 25;
const SIZES = [
  { name: "1 KiB", bytes: 1024, count: 5000 },
  { name: "16 KiB", bytes: 16_384, count: 1000 },
];

/** Measures verification with parsing, in deliveries per second, and the schemes of other providers. */
export async function benchWebhooks() {
  const rows = [];
  for (const { name, bytes, count } of SIZES) {
    const payload = eventOf(bytes);
    const t = Math.floor(Date.now() / 1000);
    const header = `t=${t},v1=${mac(t, payload).toString("hex")}`;
    const delivery = { payload, header, secrets: SECRET };
    const rates = { bare: [], sync: [], async: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.bare.push(rateOf(count, () => verifyBare(delivery)));
      rates.sync.push(rateOf(count, () => verify(delivery)));
      rates.async.push(await asyncRateOf(count / 10, () => verifyAsync(delivery)));
    }
    const row = (figure, own, goal) => ({
      name: `Webhooks: ${figure} of ${name}`,
      goal,
      figure: `${Math.round(median(own))} events/s`,
      baseline: `${Math.round(median(rates.bare))} events/s with bare node:crypto`,
      ratio: median(own.map((rate, round) => rate / rates.bare[round])),
    });
    rows.push(row("verify and parse an event", rates.sync, atLeast(0.95)));
    rows.push(row("verifyAsync, one at a time, an event", rates.async));
  }
  return [...rows, ...(await benchSchemes())];
}

/** A manually written verification, without checks of the header or the event. */
function verifyBare({ payload, header, secrets }) {
  const [t, v1] = header.split(",").map((item) => item.slice(item.indexOf("=") + 1));
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) throw new Error("old");
  const expected = createHmac("sha256", secrets).update(`${t}.`).update(payload).digest();
  if (!timingSafeEqual(expected, Buffer.from(v1, "hex"))) throw new Error("mismatch");
  return JSON.parse(payload.toString("utf8"));
}

function mac(t, payload) {
  return createHmac("sha256", SECRET).update(`${t}.`).update(payload).digest();
}

function eventOf(bytes) {
  const order = { id: "ord_06Fv3Tt0q1Yd8mWc5KxLrB", object: "order", amount: 4200, currency: "EUR", metadata: {} };
  const event = { id: "evt_06Fv3Tt0q1Yd8mWc5KxLrC", object: "event", type: "order.completed", data: { object: order } };
  for (let index = 0; JSON.stringify(event).length < bytes; index += 1) order.metadata[`key_${index}`] = "x".repeat(40);
  return Buffer.from(JSON.stringify(event));
}

function rateOf(count, work) {
  const began = performance.now();
  for (let done = 0; done < count; done += 1) work();
  return (count / (performance.now() - began)) * 1000;
}

async function asyncRateOf(count, work) {
  const began = performance.now();
  for (let done = 0; done < count; done += 1) await work();
  return (count / (performance.now() - began)) * 1000;
}

// The schemes of other providers: signing and verifying 1 KiB, against the official library of each.
import { createHmac, timingSafeEqual } from "node:crypto";
import { pathToFileURL } from "node:url";
import { sign as signGitHub, verify as verifyGitHub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { BIN, median } from "./measure.js";

const ROUNDS = 15;
const COUNT = 2000;
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const PAYLOAD = JSON.stringify({ id: "evt_1", object: "event", note: "x".repeat(980) });
const TEXT_SECRET = `whsec_${"k".repeat(43)}`;
const BASE64_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const stripe = new Stripe("sk_test_unused");
const standard = new Webhook(BASE64_SECRET);
const hmac = (text) => createHmac("sha256", TEXT_SECRET).update(text);

/** Svix's library is that of Standard Webhooks, which takes its headers by their other names. */
const renamed = (headers) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace("svix-", "webhook-"), value]));

/** What signs and verifies without this library. Shopify and Slack publish code to copy instead of a small library. */
const PEERS = {
  stripe: {
    name: "stripe",
    sign: (timestamp) => stripe.webhooks.generateTestHeaderString({ payload: PAYLOAD, secret: TEXT_SECRET, timestamp }),
    verify: (headers) => stripe.webhooks.signature.verifyHeader(PAYLOAD, headers["Stripe-Signature"], TEXT_SECRET, 300),
  },
  standard: {
    name: "standardwebhooks",
    sign: (timestamp) => standard.sign(ID, new Date(timestamp * 1000), PAYLOAD),
    verify: (headers) => standard.verify(PAYLOAD, headers, { jsonParse: false }),
  },
  svix: {
    name: "standardwebhooks",
    sign: (timestamp) => standard.sign(ID, new Date(timestamp * 1000), PAYLOAD),
    verify: (headers) => standard.verify(PAYLOAD, renamed(headers), { jsonParse: false }),
  },
  github: {
    name: "@octokit/webhooks-methods",
    sign: () => signGitHub(TEXT_SECRET, PAYLOAD),
    verify: (headers) => verifyGitHub(TEXT_SECRET, PAYLOAD, headers["X-Hub-Signature-256"]),
  },
  shopify: {
    name: "bare node:crypto",
    sign: () => hmac(PAYLOAD).digest("base64"),
    verify: (headers) =>
      timingSafeEqual(hmac(PAYLOAD).digest(), Buffer.from(headers["X-Shopify-Hmac-SHA256"], "base64")),
  },
  slack: {
    name: "bare node:crypto",
    sign: (timestamp) => `v0=${hmac(`v0:${timestamp}:${PAYLOAD}`).digest("hex")}`,
    verify: (headers) =>
      timingSafeEqual(
        Buffer.from(`v0=${hmac(`v0:${headers["X-Slack-Request-Timestamp"]}:${PAYLOAD}`).digest("hex")}`),
        Buffer.from(headers["X-Slack-Signature"]),
      ),
  },
};

/** Measures signing and verifying, in operations per second. */
export async function benchSchemes() {
  // Not at the top: `--compare` runs every part with builds from before this entry point.
  const { sign, verify } = await import(new URL("../dist/webhooks/schemes.js", pathToFileURL(BIN)));
  const rows = [];
  for (const [scheme, peer] of Object.entries(PEERS)) {
    const secrets = scheme === "standard" || scheme === "svix" ? BASE64_SECRET : TEXT_SECRET;
    const timestamp = Math.floor(Date.now() / 1000);
    const options = { scheme, payload: PAYLOAD, secrets, id: ID, timestamp };
    const headers = sign(options);
    const pairs = {
      sign: [() => sign(options), () => peer.sign(timestamp)],
      verify: [() => verify({ ...options, headers }), () => peer.verify(headers)],
    };
    for (const [action, [own, other]] of Object.entries(pairs)) {
      const rates = { own: [], other: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.own.push(await rateOf(own));
        rates.other.push(await rateOf(other));
      }
      rows.push({
        name: `Webhooks: ${action} with the scheme ${scheme}, 1 KiB`,
        figure: `${Math.round(median(rates.own))} /s`,
        baseline: `${Math.round(median(rates.other))} /s with ${peer.name}`,
        ratio: median(rates.own.map((rate, round) => rate / rates.other[round])),
      });
    }
  }
  return rows;
}

/** Awaits every call, as one of the libraries is asynchronous. */
async function rateOf(work) {
  const began = performance.now();
  for (let done = 0; done < COUNT; done += 1) await work();
  return (COUNT / (performance.now() - began)) * 1000;
}

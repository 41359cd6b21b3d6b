import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { verify as verifyGitHub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import type { Work } from "./application.ts";
import { readBody } from "./read-body.ts";

/** Returns the ID of a verified delivery. Throws or returns false for any other. */
export type Verifier = (body: string, headers: IncomingHttpHeaders, secret: string) => unknown;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const hmac = (secret: string, text: string): Buffer => createHmac("sha256", secret).update(text).digest();

/** Compares as the documentation of the providers does: in constant time, after the lengths. */
function areEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

const stripe = new Stripe("sk_test_unused");

/** Verification with the official library of each provider, or as its documentation describes it. */
export const VERIFIERS = {
  stripe: (body, headers, secret) =>
    stripe.webhooks.constructEvent(body, textOf(headers["stripe-signature"]), secret).id,
  standard: (body, headers, secret) => {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return headers["webhook-id"];
  },
  github: async (body, headers, secret) =>
    (await verifyGitHub(secret, body, textOf(headers["x-hub-signature-256"]))) && headers["x-github-delivery"],
  shopify: (body, headers, secret) =>
    areEqual(hmac(secret, body).toString("base64"), textOf(headers["x-shopify-hmac-sha256"])) &&
    headers["x-shopify-webhook-id"],
  slack: (body, headers, secret) => {
    const timestamp = textOf(headers["x-slack-request-timestamp"]);
    if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
    const expected = `v0=${hmac(secret, `v0:${timestamp}:${body}`).toString("hex")}`;
    return (
      areEqual(expected, textOf(headers["x-slack-signature"])) && (JSON.parse(body) as { event_id: string }).event_id
    );
  },
} as const satisfies Record<string, Verifier>;

/** A receiver that processes each event once, unless it has no dedupe. */
export function receiverWith(verify: Verifier, secret: string, dedupe = true): (work: Work) => RequestListener {
  return (work) => (request, response) => {
    const receive = async (): Promise<number> => {
      const id = await verify((await readBody(request)).toString("utf8"), request.headers, secret);
      if (typeof id !== "string") return 400;
      if (dedupe) work.once(id);
      else work.act(id);
      return 204;
    };
    receive().then(
      (status) => response.writeHead(status).end(),
      (error: Error) => response.writeHead(400).end(error.message),
    );
  };
}

import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { verify as verifyGitHub } from "@octokit/webhooks-methods";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/contract/json.ts";
import { check, hmac, idsWith, parsed, type Provider, slackOver, STANDARD_SECRET } from "./support/provider-check.ts";
import { type Verifier, VERIFIERS } from "./support/provider-receivers.ts";

const stripe = new Stripe("sk_test_unused");

const COMMAND = "command=%2Fweather&text=94070+today&trigger_id=13345224609.738474920";

describe("service webhooks check --scheme", () => {
  const keyed =
    (keyOf: (secret: string) => string | Buffer): Verifier =>
    (body, headers) => {
      const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
      const mac = createHmac("sha256", keyOf(STANDARD_SECRET)).update(signed).digest("base64");
      return String(headers["webhook-signature"]).split(" ").includes(`v1,${mac}`) && headers["webhook-id"];
    };

  const stripeOver =
    (key: string | Buffer) =>
    (body: string, headers: IncomingHttpHeaders): unknown => {
      const [, t = "", v1 = ""] = /^t=(\d+),v1=(.*)$/.exec(String(headers["stripe-signature"])) ?? [];
      return createHmac("sha256", key).update(`${t}.${body}`).digest("hex") === v1 && "id";
    };
  const shopifyOver =
    (key: string | Buffer) =>
    (body: string, headers: IncomingHttpHeaders): unknown =>
      createHmac("sha256", key).update(body).digest("base64") === headers["x-shopify-hmac-sha256"] && "id";

  const standardOver =
    (signed: (headers: IncomingHttpHeaders, body: string) => string): Verifier =>
    (body, headers, secret) => {
      const key = Buffer.from(secret.slice("whsec_".length), "base64");
      const mac = createHmac("sha256", key).update(signed(headers, body)).digest("base64");
      return headers["webhook-signature"] === `v1,${mac}` && headers["webhook-id"];
    };
  /** `json.dumps` of Python. */
  const asPython = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(asPython).join(", ")}]`
      : typeof value === "object" && value !== null
        ? `{${Object.entries(value)
            .map(([name, member]) => `${JSON.stringify(name)}: ${asPython(member)}`)
            .join(", ")}}`
        : JSON.stringify(value);

  it("reports Latin-1 if a receiver decodes the body with it", async () => {
    const latin1: Verifier = (body, headers, secret) =>
      VERIFIERS.github(Buffer.from(body).toString("latin1"), headers, secret);
    const { report } = await check("github", latin1);
    expect(idsWith(report, "failed")).toEqual(["body-unicode"]);
    expect(report.checks.find(({ id }) => id === "body-unicode")!.fix).toContain("decodes the body as Latin-1");
    const { report: other } = await check("github", latin1, { content: '{"name":"Zoë"}' });
    expect(other.checks[0]!.fix).toContain("decodes the body as Latin-1");
  });

  it.each<[Provider, string, string]>([
    ["stripe", '{"id":"evt_1","data":{"object":{"id":"ch_1"}}}', "data.object.id"],
    ["shopify", '{"id":820982911946154500}', "id"],
  ])("reports a receiver of %s that detects duplicates by the object's ID", async (provider, content, path) => {
    const verify: Verifier = (body, headers, secret) =>
      VERIFIERS[provider](body, headers, secret) !== false && String(valueAt(JSON.parse(body), path));
    const { report } = await check(provider, verify, { content });
    expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
      grade: "C",
      failed: ["duplicate-in-turn"],
    });
    const { seen, fix } = report.checks.find(({ id }) => id === "duplicate-in-turn")!;
    expect(seen).toContain("an event about another object");
    expect(fix).toMatch(/Detect duplicates by the event's ID only.*This receiver detects them by the object's ID/);
  });

  it.each<[string, (fields: URLSearchParams) => string]>([
    [
      "a form that it has encoded again",
      (fields) => [...fields].map((field) => field.map(encodeURIComponent).join("=")).join("&"),
    ],
    ["the JSON of a form", (fields) => JSON.stringify(Object.fromEntries(fields))],
  ])("reports a receiver of Slack that verifies %s", async (_what, read) => {
    const verify = slackOver((timestamp, body) => `v0:${timestamp}:${read(new URLSearchParams(body))}`);
    const { report } = await check("slack", verify, { content: COMMAND });
    expect(report.grade).toBe("F");
    expect(report.checks[0]!.fix).toContain("before any parser of forms reads it");
  });

  it.each<[string, Provider, Verifier, string]>([
    ["the whole secret as the key", "standard", keyed((secret) => secret), "decode the base64 after whsec_"],
    ["base64 as the key", "standard", keyed((secret) => secret.slice("whsec_".length)), "decode its base64"],
    [
      "a key without its prefix",
      "stripe",
      (body, headers, secret) => VERIFIERS.stripe(body, headers, secret.slice("whsec_".length)),
      "use the whole secret as the key",
    ],
    [
      "base64 for hex",
      "github",
      (body, headers, secret) =>
        `sha256=${createHmac("sha256", secret).update(body).digest("base64")}` === headers["x-hub-signature-256"] &&
        "id",
      "expects the signature in base64: X-Hub-Signature-256 contains hex",
    ],
    [
      "a decoded secret",
      "slack",
      (body, headers, secret) => VERIFIERS.slack(body, headers, Buffer.from(secret, "base64") as never),
      "The receiver decodes the secret: use its text as the key",
    ],
    [
      "hex for base64",
      "shopify",
      (body, headers, secret) =>
        createHmac("sha256", secret).update(body).digest("hex") === headers["x-shopify-hmac-sha256"] && "id",
      "expects the signature in hex: X-Shopify-Hmac-SHA256 contains base64",
    ],
    [
      "a signature without sha256=",
      "github",
      (body, headers, secret) => hmac("sha256", secret, body) === headers["x-hub-signature-256"] && "id",
      "without sha256=: remove sha256= from what X-Hub-Signature-256 contains",
    ],
    [
      "a signature without v0=",
      "slack",
      (body, headers, secret) =>
        hmac("sha256", secret, `v0:${String(headers["x-slack-request-timestamp"])}:${body}`) ===
          headers["x-slack-signature"] && "id",
      "without v0=: remove v0= from what X-Slack-Signature contains",
    ],
    [
      "the older header with SHA-1",
      "github",
      (body, headers, secret) => `sha1=${hmac("sha1", secret, body)}` === headers["x-hub-signature"] && "id",
      "computes the HMAC with SHA-1: compute it with SHA-256, and compare it with X-Hub-Signature-256",
    ],
    [
      "SHA-1",
      "slack",
      (body, headers, secret) =>
        `v0=${hmac("sha1", secret, `v0:${String(headers["x-slack-request-timestamp"])}:${body}`)}` ===
          headers["x-slack-signature"] && "id",
      "computes the HMAC with SHA-1",
    ],
    [
      "a secret with the line break of its file",
      "stripe",
      (body, headers, secret) => VERIFIERS.stripe(body, headers, `${secret}\n`),
      "secret ends in a line break",
    ],
    [
      "a secret in quotes",
      "github",
      (body, headers, secret) => VERIFIERS.github(body, headers, `"${secret}"`),
      "secret is in quotes",
    ],
    [
      "the body without the timestamp",
      "slack",
      (body, headers, secret) => `v0=${hmac("sha256", secret, body)}` === headers["x-slack-signature"] && "id",
      "computes the HMAC over the body alone: compute it over `v0:{timestamp}:{body}`",
    ],
    [
      "the text without the ID",
      "standard",
      standardOver((headers, body) => `${String(headers["webhook-timestamp"])}.${body}`),
      "computes the HMAC over `{timestamp}.{body}`: compute it over `{id}.{timestamp}.{body}`",
    ],
    [
      "the text of another provider",
      "slack",
      slackOver((timestamp, body) => `${timestamp}.${body}`),
      "computes the HMAC over `{timestamp}.{body}`: compute it over `v0:{timestamp}:{body}`",
    ],
    [
      "a body that Python wrote again",
      "slack",
      slackOver((timestamp, body) => `v0:${timestamp}:${asPython(JSON.parse(body))}`),
      "Verify the raw request body",
    ],
    [
      "the timestamp for milliseconds",
      "stripe",
      (body, headers, secret) => {
        const [, t = "", v1 = ""] = /^t=(\d+),v1=(.*)$/.exec(String(headers["stripe-signature"])) ?? [];
        const isFresh = Math.abs(Date.now() - Number(t)) < 300_000;
        return isFresh && hmac("sha256", secret, `${t}.${body}`) === v1 && "id";
      },
      "takes the timestamp for milliseconds: it is in seconds",
    ],
    [
      "the timestamp of a header for milliseconds",
      "slack",
      (body, headers, secret) => {
        const isFresh = Math.abs(Date.now() - Number(headers["x-slack-request-timestamp"])) < 300_000;
        return isFresh && slackOver((timestamp) => `v0:${timestamp}:${body}`)(body, headers, secret);
      },
      "takes the timestamp for milliseconds: it is in seconds",
    ],
    [
      "a secret decoded from base64 that has other characters",
      "stripe",
      (body, headers, secret) => stripeOver(Buffer.from(secret.slice("whsec_".length), "base64"))(body, headers),
      "The receiver decodes the secret: use its text as the key",
    ],
    [
      "a secret decoded from hex",
      "shopify",
      (body, headers, secret) => shopifyOver(Buffer.from(secret.slice("shpss_".length), "hex"))(body, headers),
      "The receiver decodes the secret: use its text as the key",
    ],
    [
      "a secret decoded from hex",
      "slack",
      (body, headers, secret) => VERIFIERS.slack(body, headers, Buffer.from(secret, "hex") as never),
      "The receiver decodes the secret: use its text as the key",
    ],
    [
      "a secret without the prefix that Shopify gives it",
      "shopify",
      (body, headers, secret) => shopifyOver(secret.slice("shpss_".length))(body, headers),
      "The receiver leaves out shpss_: use the whole secret as the key",
    ],
    [
      "the base64 of the whole secret",
      "standard",
      keyed((secret) => Buffer.from(secret, "base64")),
      "The receiver decodes the whole secret: remove whsec_ before it decodes the base64",
    ],
    ["an unset variable", "slack", (body, headers) => VERIFIERS.slack(body, headers, "undefined"), "has no secret"],
    ["an empty secret", "github", (body, headers) => VERIFIERS.github(body, headers, ""), "has no secret"],
    [
      "SHA-1 in the header of SHA-256",
      "github",
      (body, headers, secret) => `sha1=${hmac("sha1", secret, body)}` === headers["x-hub-signature-256"] && "id",
      "computes the HMAC with SHA-1: compute it with SHA-256",
    ],
    ...(
      [
        ["github", "X-Hub-Signature", "X-Hub-Signature-256"],
        ["shopify", "X-Shopify-Signature", "X-Shopify-Hmac-SHA256"],
        ["slack", "Slack-Signature", "X-Slack-Signature"],
        ["slack", "X-Slack-Timestamp", "X-Slack-Request-Timestamp"],
        ["stripe", "X-Stripe-Signature", "Stripe-Signature"],
        ["standard", "X-Webhook-Signature", "webhook-signature"],
      ] as const
    ).map(([provider, wrong, right]): [string, Provider, Verifier, string] => [
      `the header ${wrong}`,
      provider,
      (body, headers, secret) =>
        VERIFIERS[provider](body, { ...headers, [right.toLowerCase()]: headers[wrong.toLowerCase()] }, secret),
      `The receiver reads ${wrong}: read ${right}`,
    ]),
  ])("gives an F to a receiver that uses %s, and reports the mistake", async (_name, provider, verify, fix) => {
    const { report } = await check(provider, verify);
    expect(report).toMatchObject({ grade: "F", counts: { passed: 1, failed: 1 } });
    expect(report.checks[0]!.fix).toContain(fix);
  });

  it.each<[Provider, Verifier]>([
    [
      "stripe",
      (body, headers, secret) =>
        stripe.webhooks.constructEvent(JSON.parse(body) as never, String(headers["stripe-signature"]), secret).id,
    ],
    ["github", (body, headers, secret) => VERIFIERS.github(JSON.parse(body) as never, headers, secret)],
    ["standard", (body, headers, secret) => VERIFIERS.standard(JSON.parse(body) as never, headers, secret)],
    // The reason that `shopify.webhooks.validate` of @shopify/shopify-api gives.
    ["shopify", () => Promise.reject(new Error("missing_body"))],
  ])("tells a receiver that passes a parsed object to the library of %s to pass the raw body", async (name, verify) => {
    const { report } = await check(name, verify);
    expect(report.checks[0]!.seen).toMatch(/^400 in /);
    expect(report.checks[0]!.fix).toContain("Verify the raw request body, before any JSON parser reads it");
  });

  it.each<[string, Provider, Verifier, string]>([
    [
      "no secret",
      "stripe",
      (body, headers) =>
        stripe.webhooks.constructEvent(body, String(headers["stripe-signature"]), undefined as never).id,
      "The receiver has no secret",
    ],
    [
      "no secret",
      "standard",
      (body, headers) => VERIFIERS.standard(body, headers, undefined as never),
      "has no secret",
    ],
    [
      "a header that it does not get",
      "stripe",
      (body, headers, secret) => stripe.webhooks.constructEvent(body, headers["Stripe-Signature"] as never, secret).id,
      "The receiver does not find Stripe-Signature: in Node.js, the names of headers are in lower case",
    ],
    [
      "headers that it does not get",
      "standard",
      (body, _headers, secret) => VERIFIERS.standard(body, {}, secret),
      "does not find webhook-signature",
    ],
    [
      "no body",
      "stripe",
      (_body, headers, secret) =>
        stripe.webhooks.constructEvent(undefined as never, String(headers["stripe-signature"]), secret).id,
      "The receiver passes no body to its library: read the raw body",
    ],
    [
      "no signature",
      "github",
      (body, _headers, secret) => verifyGitHub(secret, body, undefined as never),
      "does not find X-Hub-Signature-256, or has no secret or no body",
    ],
  ])("reports the mistake of a receiver that passes %s to the library of %s", async (_what, provider, verify, fix) => {
    const { report } = await check(provider, verify);
    expect(report.checks[0]!.fix).toContain(fix);
  });

  it.each<[Provider, string]>([
    ["standard", "svix"],
    ["stripe", "github"],
  ])("reports the scheme if a receiver of %s is checked as a receiver of %s", async (provider, scheme) => {
    const { report } = await check(provider, VERIFIERS[provider], { scheme });
    expect(report.checks[0]!.fix).toContain(`pass --scheme ${provider}`);
  });

  it("does not mistake another secret for a parsed body", async () => {
    const { report } = await check("stripe", (body, headers) => VERIFIERS.stripe(body, headers, "whsec_other"));
    expect(report.checks[0]!.seen).toContain("raw request body");
    expect(report.checks[0]!.fix).toContain("Check that the secret is the receiver's");
  });

  it("reports a parsed body if the payload has numbers that the receiver rounds", async () => {
    const content = '{"id":820982911946154508,"line_items":[]}';
    const { report } = await check("shopify", parsed(VERIFIERS.shopify), { content });
    expect(report).toMatchObject({ grade: "F", counts: { passed: 1, failed: 1 } });
    expect(report.checks[0]!.fix).toContain("Verify the raw request body");
    const bodies: string[] = [];
    const verify: Verifier = (body, headers, secret) => {
      bodies.push(body);
      return VERIFIERS.shopify(body, headers, secret);
    };
    const { report: correct } = await check("shopify", verify, { content });
    expect(correct.grade).toBe("A");
    expect(bodies.filter((body) => !/820982911946154508\b/.test(body))).toEqual([]);
  });
});

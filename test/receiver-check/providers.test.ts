import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { afterAll, describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { SCHEMES } from "../../src/webhooks/schemes.ts";
import { type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";
import { type Application, startApplication } from "./support/application.ts";
import { receiverWith, type Verifier, VERIFIERS } from "./support/provider-receivers.ts";

const stripe = new Stripe("sk_test_unused");

type Provider = keyof typeof VERIFIERS;

const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const SECRETS: Record<Provider, string> = {
  stripe: "whsec_a9Kx",
  standard: STANDARD_SECRET,
  github: "It's a Secret to Everybody",
  shopify: "shpss_0123456789abcdef",
  slack: "8f742231b10e8888abcd99yyyzzz85a5",
};

const hmac = (algorithm: string, secret: string, text: string): string =>
  createHmac(algorithm, secret).update(text).digest("hex");

/** Bodies as the providers document them, with numbers and text that JSON.stringify writes in the same way. */
const PAYLOADS: Record<Provider, unknown> = {
  stripe: { id: "evt_1Q", object: "event", type: "charge.succeeded", data: { object: { id: "ch_1", amount: 1999 } } },
  standard: { type: "user.created", timestamp: "2026-11-01T00:00:00Z", data: { id: "usr_1" } },
  github: { ref: "refs/heads/main", repository: { full_name: "octo/repo" }, commits: [] },
  shopify: { id: 820982911946154500, email: "jon@example.com", line_items: [] },
  slack: { type: "event_callback", event_id: "Ev08MFMKH6", event: { type: "app_mention", text: "hello" } },
};

const started: Application[] = [];
afterAll(() => {
  for (const application of started) application.close();
});

interface Outcome extends CliResult {
  report: ReceiverReport;
  acted: string[];
}

async function check(
  provider: Provider,
  verify: Verifier,
  {
    scheme = provider,
    dedupe = true,
    content = JSON.stringify(PAYLOADS[provider], undefined, 2),
  }: { scheme?: string; dedupe?: boolean; content?: string } = {},
): Promise<Outcome> {
  const secret = SECRETS[provider];
  const application = await startApplication(receiverWith(verify, secret, dedupe));
  started.push(application);
  const payload = join(createConfigDir(), "event.json");
  writeFileSync(payload, content);
  const args = ["--scheme", scheme, "--payload", payload, "--secret-file", "-", "--probe", application.count];
  const result = await runCli(["webhooks", "check", application.webhooks, ...args, "--json"], { input: secret });
  expect(result.stderr).toBe("");
  return { ...result, report: JSON.parse(result.stdout) as ReceiverReport, acted: application.work.acted };
}

const idsWith = ({ checks }: ReceiverReport, wanted: string): string[] =>
  checks.filter(({ status }) => status === wanted).map(({ id }) => id);

const TYPES = ["unknown-event-type", "any-order"];
const ROTATION = ["two-v1-own-first", "two-v1-own-second", "unknown-schemes"];
const TIME = ["t-301-s-old", "t-301-s-ahead", "t-299-s-old"];

describe("service webhooks check --scheme", () => {
  it.each<[Provider, string[]]>([
    ["stripe", [...TYPES, "t-301-s-ahead"]],
    ["standard", TYPES],
    ["github", [...TYPES, ...TIME, ...ROTATION]],
    ["shopify", [...TYPES, ...TIME, ...ROTATION]],
    ["slack", [...TYPES, ...ROTATION]],
  ])("finds no problem in a receiver with the verification of %s", async (provider, inapplicable) => {
    const { exitCode, report, acted } = await check(provider, VERIFIERS[provider]);
    expect(idsWith(report, "failed")).toEqual([]);
    expect(idsWith(report, "not_applicable").toSorted()).toEqual(inapplicable.toSorted());
    expect(idsWith(report, "skipped")).toEqual(["previous-secret"]);
    expect({ exitCode, grade: report.grade }).toEqual({ exitCode: 0, grade: "A" });
    expect(report.counts.not_applicable).toBe(inapplicable.length);
    expect(new Set(report.checks.map(({ rule }) => rule))).toEqual(new Set([SCHEMES[provider].docs]));
    expect(new Set(acted).size).toBe(acted.length);
  });

  it("finds no problem in a receiver of shopify that decodes the signature and stores the event ID, as its documentation does", async () => {
    const { report } = await check("shopify", (body, headers, secret) => {
      const expected = createHmac("sha256", secret).update(body).digest();
      const given = Buffer.from(String(headers["x-shopify-hmac-sha256"]), "base64");
      return given.length === expected.length && given.equals(expected) && headers["x-shopify-event-id"];
    });
    expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({ grade: "A", failed: [] });
    expect(report.checks.find(({ id }) => id === "two-v1-own-first")!.title).toBe(
      "Accepts two signatures, its own first",
    );
  });

  const parsed =
    (verify: Verifier): Verifier =>
    (body, ...rest) =>
      verify(JSON.stringify(JSON.parse(body)), ...rest);
  const SPELLED = ["body-spacing", "body-unicode", "body-escaped-slashes", "body-large-numbers"];

  it.each(["stripe", "standard", "github", "shopify", "slack"] as const)(
    "gives a D to a receiver of %s that parses the body before it verifies, and says so",
    async (provider) => {
      const { exitCode, report } = await check(provider, parsed(VERIFIERS[provider]));
      expect({ exitCode, grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
        exitCode: 1,
        grade: "D",
        failed: SPELLED,
      });
      const { fix, rule } = report.checks.find(({ status }) => status === "failed")!;
      expect({ fix, rule }).toEqual({
        fix: expect.stringContaining("Verify the raw request body, before any JSON parser reads it"),
        rule: SCHEMES[provider].docs,
      });
    },
  );

  it.each(["stripe", "standard", "github", "shopify", "slack"] as const)(
    "gives a C to a receiver of %s without dedupe, and says so",
    async (provider) => {
      const { report } = await check(provider, VERIFIERS[provider], { dedupe: false });
      expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
        grade: "C",
        failed: ["duplicate-in-turn", "duplicate-at-once"],
      });
      expect(report.checks.find(({ status }) => status === "failed")!.fix).toContain("Store the event's ID");
    },
  );

  const ageless =
    (signed: (timestamp: string, body: string) => string): Verifier =>
    (body, headers, secret) => {
      const timestamp = String(headers["x-slack-request-timestamp"]);
      const mac = createHmac("sha256", secret).update(signed(timestamp, body)).digest("hex");
      return headers["x-slack-signature"] === `v0=${mac}` && (JSON.parse(body) as { event_id: string }).event_id;
    };

  it("gives an F to a receiver of slack without a limit of age, and says so", async () => {
    const { report } = await check(
      "slack",
      ageless((timestamp, body) => `v0:${timestamp}:${body}`),
    );
    expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
      grade: "F",
      failed: ["t-301-s-old", "t-301-s-ahead"],
    });
    expect(report.checks.find(({ id }) => id === "t-301-s-old")!.fix).toContain("exceed 300");
  });

  it.each<[Provider, Verifier]>([
    [
      "stripe",
      (body, headers, secret) =>
        stripe.webhooks.constructEvent(body, String(headers["stripe-signature"]), secret, 1_000_000).id,
    ],
    [
      "standard",
      (body, headers, secret) => {
        const signature = new Webhook(secret).sign(
          String(headers["webhook-id"]),
          new Date(Number(headers["webhook-timestamp"]) * 1000),
          body,
        );
        return String(headers["webhook-signature"]).split(" ").includes(signature) && headers["webhook-id"];
      },
    ],
  ])("gives an F to a receiver of %s without a limit of age, and says so", async (provider, verify) => {
    const { report } = await check(provider, verify);
    expect(report.grade).toBe("F");
    expect(idsWith(report, "failed")).toContain("t-301-s-old");
    expect(report.checks.find(({ id }) => id === "t-301-s-old")!.fix).toContain("exceed 300");
  });

  const keyed =
    (keyOf: (secret: string) => string | Buffer): Verifier =>
    (body, headers) => {
      const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
      const mac = createHmac("sha256", keyOf(STANDARD_SECRET)).update(signed).digest("base64");
      return String(headers["webhook-signature"]).split(" ").includes(`v1,${mac}`) && headers["webhook-id"];
    };

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
  ])("gives an F to a receiver that takes %s, and names the mistake", async (_name, provider, verify, fix) => {
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

  it.each<[Provider, string]>([
    ["standard", "svix"],
    ["stripe", "github"],
  ])("names the scheme if a receiver of %s is checked as one of %s", async (provider, scheme) => {
    const { report } = await check(provider, VERIFIERS[provider], { scheme });
    expect(report.checks[0]!.fix).toContain(`pass --scheme ${provider}`);
  });

  it("does not mistake another secret for a parsed body", async () => {
    const { report } = await check("stripe", (body, headers) => VERIFIERS.stripe(body, headers, "whsec_other"));
    expect(report.checks[0]!.seen).toContain("raw request body");
    expect(report.checks[0]!.fix).toContain("Check that the secret is the receiver's");
  });

  it("names a parsed body if the payload has numbers that the receiver rounds", async () => {
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

  it("gives an F to a receiver that does not verify", async () => {
    const { report } = await check("github", (_body, headers) => headers["x-github-delivery"]);
    expect(report.grade).toBe("F");
    const refusing = report.checks.filter(({ group }) => group === "Rejecting");
    expect(refusing.map(({ status }) => status)).toEqual(Array<string>(7).fill("failed"));
    expect(new Set(refusing.map(({ fix }) => fix))).toEqual(
      new Set([expect.stringMatching(/^Verify the signature first, and respond with 400/)]),
    );
  });
});

describe.concurrent("service webhooks check --scheme", () => {
  it.each<[Provider, number]>([
    ["slack", 3],
    ["shopify", 5],
  ])("gives a receiver of %s %i seconds to respond", async (provider, seconds) => {
    const { report } = await check(provider, () => new Promise(() => {}));
    expect(report.checks[1]).toMatchObject({
      id: "responds-in-time",
      title: `Responds within ${seconds} s`,
      status: "failed",
      seen: `no complete response within ${seconds} s`,
      explanation: expect.stringContaining(`After ${seconds} s`),
    });
  });
});

describe("service webhooks check --scheme sends nothing", () => {
  const run = async (args: string[], input = "{}"): Promise<CliResult & { requests: number }> => {
    let requests = 0;
    const application = await startApplication(() => (_request, response) => {
      requests += 1;
      response.end();
    });
    started.push(application);
    const secret = ["--secret", "whsec_AAAA"];
    const result = await runCli(["webhooks", "check", application.webhooks, ...secret, ...args], { input });
    return { ...result, requests };
  };

  it.each<[string, string[], string | undefined, RegExp]>([
    ["without a payload", ["--scheme", "stripe"], undefined, /--scheme stripe needs --payload/],
    [
      "without the path of the ID",
      ["--scheme", "stripe", "--payload", "-"],
      '{"ID":1}',
      /no string or number at id, where Stripe/,
    ],
    [
      "with a payload that is not JSON",
      ["--scheme", "slack", "--payload", "-"],
      "a=b",
      /not JSON in UTF-8, but Slack has the ID/,
    ],
    ["for an unknown scheme", ["--scheme", "git-hub", "--payload", "-"], "{}", /Did you mean github\?/],
    [
      "with a wrong secret",
      ["--scheme", "standard", "--payload", "-", "--secret", "abc"],
      "{}",
      /a Standard Webhooks secret is base64 after whsec_/,
    ],
    [
      "with a header without a name",
      ["-H", "x", "--scheme", "github", "--payload", "-"],
      "{}",
      /write a header as "Name: value"/,
    ],
  ])("%s", async (_name, args, input, message) => {
    const { exitCode, stderr, requests } = await run(args, input);
    expect({ exitCode, requests }).toEqual({ exitCode: 2, requests: 0 });
    expect(stderr).toMatch(message);
  });
});

describe("service webhooks check --scheme github", () => {
  it("sends a payload that is not JSON as it is, with the headers of -H", async () => {
    const requests: { type: unknown; event: unknown; body: string }[] = [];
    const application = await startApplication(
      receiverWith((body, headers, secret) => {
        requests.push({ type: headers["content-type"], event: headers["x-github-event"], body });
        return VERIFIERS.github(body, headers, secret);
      }, "secret"),
    );
    started.push(application);
    const type = "application/x-www-form-urlencoded";
    const flags = ["--scheme", "github", "--payload", "-", "-H", `content-type: ${type}`, "-H", "X-GitHub-Event: ping"];
    const args = [
      "webhooks",
      "check",
      application.webhooks,
      "--secret",
      "secret",
      ...flags,
      "--probe",
      application.count,
    ];
    const { stdout } = await runCli([...args, "--json"], { input: "payload=%7B%7D" });
    const report = JSON.parse(stdout) as ReceiverReport;
    expect(requests[0]).toEqual({ type, event: "ping", body: "payload=%7B%7D" });
    expect(report.grade).toBe("A");
    expect(report.checks.filter(({ group }) => group === "Raw body").map(({ status }) => status)).toEqual(
      Array<string>(5).fill("not_applicable"),
    );
  });
});

import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { SCHEMES } from "../../src/webhooks/schemes.ts";
import { type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";
import { startApplication } from "./support/application.ts";
import {
  check,
  idsWith,
  parsed,
  PAYLOADS,
  type Provider,
  SECRETS,
  slackOver,
  started,
} from "./support/provider-check.ts";
import { receiverWith, type Verifier, VERIFIERS } from "./support/provider-receivers.ts";

const stripe = new Stripe("sk_test_unused");

const ORDER = "any-order";
const ROTATION = ["two-signatures-own-first", "two-signatures-own-second", "unknown-schemes"];
const TIME = ["t-301-s-old", "t-301-s-ahead", "t-299-s-old"];

describe("service webhooks check --scheme", () => {
  it.each<[Provider, string[]]>([
    ["stripe", [ORDER, "t-301-s-ahead"]],
    ["standard", [ORDER]],
    ["github", [ORDER, ...TIME, ...ROTATION]],
    ["shopify", [ORDER, ...TIME, ...ROTATION]],
    ["slack", [ORDER, ...ROTATION]],
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
    expect(report.checks.find(({ id }) => id === "two-signatures-own-first")!.title).toBe(
      "Accepts two signatures, its own first",
    );
  });

  it.each<[Provider, string, (body: string, headers: Readonly<Record<string, unknown>>) => unknown]>([
    ["stripe", "charge.reviewed_by_a_later_version", (body) => (JSON.parse(body) as { type: string }).type],
    ["standard", "user.reviewed_by_a_later_version", (body) => (JSON.parse(body) as { type: string }).type],
    ["slack", "reviewed_by_a_later_version", (body) => (JSON.parse(body) as { event: { type: string } }).event.type],
    ["github", "reviewed_by_a_later_version", (_body, headers) => headers["x-github-event"]],
    ["shopify", "orders/reviewed_by_a_later_version", (_body, headers) => headers["x-shopify-topic"]],
  ])("gives a C to a receiver of %s that rejects an unknown type", async (provider, type, typeOf) => {
    const { report, exitCode } = await check(
      provider,
      (body, headers, secret) => typeOf(body, headers) !== type && VERIFIERS[provider](body, headers, secret),
    );
    expect({ exitCode, grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
      exitCode: 1,
      grade: "C",
      failed: ["unknown-event-type"],
    });
    expect(report.checks.find(({ status }) => status === "failed")!.sent).toBe(`A valid delivery of type ${type}`);
  });

  it("says why it does not check the order of another provider's events", async () => {
    const { report } = await check("stripe", VERIFIERS.stripe);
    expect(report.checks.find(({ id }) => id === ORDER)!.seen).toBe(
      "Not checked: needs two events about the same object, and there is one payload",
    );
  });

  const SPELLED = ["body-spacing", "body-unicode", "body-escaped-slashes", "body-large-numbers"];

  it.each(["stripe", "standard", "github", "shopify", "slack"] as const)(
    "gives an F to a receiver of %s that parses an indented payload before it verifies, with the reason",
    async (provider) => {
      const { report } = await check(provider, parsed(VERIFIERS[provider]));
      expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
        grade: "F",
        failed: ["valid-delivery"],
      });
      expect(report.checks[0]!.fix).toContain("Verify the raw request body, before any JSON parser reads it");
    },
  );

  it("sends a payload byte for byte, except for its ID", async () => {
    const bodies: string[] = [];
    const content =
      '{ "object": "event",\r\n\t"nested": {"id": "a"}, "id" : "evt_1", "total": 1.10, "a\\/b": "\\u00eb ë" }\n';
    await check("stripe", (body, headers, secret) => bodies.push(body) && VERIFIERS.stripe(body, headers, secret), {
      content,
    });
    const [first] = bodies;
    const { id } = JSON.parse(first!) as { id: string };
    expect(id).toMatch(/^evt_\w{22}$/);
    expect(first).toBe(content.replace("evt_1", id));
  });

  it.each(["stripe", "standard", "github", "shopify", "slack"] as const)(
    "gives a D to a receiver of %s that parses a compact payload before it verifies, with the reason",
    async (provider) => {
      const content = JSON.stringify(PAYLOADS[provider]);
      const { exitCode, report } = await check(provider, parsed(VERIFIERS[provider]), { content });
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
    "gives a C to a receiver of %s without dedupe, with the reason",
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

  it("gives an F to a receiver of slack without an age limit, with the reason", async () => {
    const { report } = await check(
      "slack",
      ageless((timestamp, body) => `v0:${timestamp}:${body}`),
    );
    expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({
      grade: "F",
      failed: ["t-301-s-old", "t-301-s-ahead"],
    });
    expect(report.checks.find(({ id }) => id === "t-301-s-old")!.fix).toContain("more than 300 seconds old");
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
  ])("gives an F to a receiver of %s without an age limit, with the reason", async (provider, verify) => {
    const { report } = await check(provider, verify);
    expect(report.grade).toBe("F");
    expect(idsWith(report, "failed")).toContain("t-301-s-old");
    expect(report.checks.find(({ id }) => id === "t-301-s-old")!.fix).toContain("more than 300 seconds old");
  });

  it("repeats a delivery without a response before it judges", async () => {
    let missed = 0;
    let isForgeryMissed = false;
    const { report } = await check("slack", (body, headers, secret) => {
      if (missed++ === 0) return new Promise(() => {});
      const isValid = VERIFIERS.slack(body, headers, secret);
      if (isValid === false && !isForgeryMissed) {
        isForgeryMissed = true;
        return new Promise(() => {});
      }
      return isValid;
    });
    expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({ grade: "A", failed: [] });
    expect(report.checks[0]!.seen).toMatch(/^204 in .* at the second try$/);
    expect(isForgeryMissed).toBe(true);
  });

  it("does not count a crash on a forged delivery as an accepted one", async () => {
    const application = await startApplication((work) => (request, response) => {
      const writeHead = response.writeHead.bind(response);
      response.writeHead = (status: number) => writeHead(status === 400 ? 500 : status);
      receiverWith(VERIFIERS.github, SECRETS.github)(work)(request, response);
    });
    started.push(application);
    const args = ["--scheme", "github", "--payload", "-", "--secret", SECRETS.github, "--probe", application.count];
    const { exitCode, stdout } = await runCli(["webhooks", "check", application.webhooks, ...args, "--json"], {
      input: "{}",
    });
    const report = JSON.parse(stdout) as ReceiverReport;
    expect({ exitCode, grade: report.grade, verdict: report.verdict }).toEqual({
      exitCode: 1,
      grade: "C",
      verdict: "The receiver accepts no forged delivery, but fails instead of rejecting it.",
    });
    expect(report.checks.find(({ id }) => id === "wrong-secret")!.explanation).toContain("did not accept the delivery");
  });

  const COMMAND = "token=gIkuvaNzQIHg97ATvDxqgjtO&command=%2Fweather&text=94070+today&trigger_id=13345224609.738474920";
  const slackForm: Verifier = (body, headers, secret) =>
    slackOver((timestamp) => `v0:${timestamp}:${body}`)(body, headers, secret) &&
    new URLSearchParams(body).get("command");

  it("grades a receiver of Slack forms, which have no ID", async () => {
    const { report } = await check("slack", slackForm, { content: `${COMMAND}\n` });
    expect(idsWith(report, "failed")).toEqual(["t-301-s-old", "t-301-s-ahead"]);
    expect(idsWith(report, "not_applicable").toSorted()).toEqual(
      [
        "unknown-event-type",
        ORDER,
        ...ROTATION,
        "body-large-numbers",
        "duplicate-in-turn",
        "duplicate-at-once",
      ].toSorted(),
    );
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

describe("service webhooks check --scheme without a payload", () => {
  it.each(["stripe", "standard", "github", "shopify", "slack"] as const)(
    "sends a sample of %s, and mentions it",
    async (provider) => {
      const bodies: string[] = [];
      const verify: Verifier = (body, headers, secret) =>
        bodies.push(body) && VERIFIERS[provider](body, headers, secret);
      const application = await startApplication(receiverWith(verify, SECRETS[provider]));
      started.push(application);
      const args = ["--scheme", provider, "--secret", SECRETS[provider], "--probe", application.count, "--json"];
      const { stdout, stderr } = await runCli(["webhooks", "check", application.webhooks, ...args]);
      const report = JSON.parse(stdout) as ReceiverReport;
      expect({ grade: report.grade, failed: idsWith(report, "failed") }).toEqual({ grade: "A", failed: [] });
      expect(stderr).toContain(`Sending a sample of ${SCHEMES[provider].name}: `);
      expect(stderr).toContain("pass --payload");
      // GitHub writes JSON as JavaScript does.
      expect(bodies[0] === JSON.stringify(JSON.parse(bodies[0]!))).toBe(
        provider === "github" || provider === "standard",
      );
    },
  );

  it("asks for the payload of a scheme of service.yaml", async () => {
    const cwd = createConfigDir();
    writeFileSync(
      join(cwd, "service.yaml"),
      'schemes:\n  acme:\n    signed: "{body}"\n    signature: { header: Acme-Signature, encoding: hex }\n',
    );
    const { exitCode, stderr } = await runCli(["webhooks", "check", "1", "--scheme", "acme", "--secret", "a"], { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("--scheme acme needs --payload"),
    });
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
    [
      "without the path of the ID",
      ["--scheme", "stripe", "--payload", "-"],
      '{"ID":1}',
      /no string or number at id, where Stripe/,
    ],
    [
      "with a payload that is not JSON",
      ["--scheme", "slack", "--payload", "-"],
      "hello",
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
  it("sends a payload that is not JSON unchanged, with the headers of -H", async () => {
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
    expect(report.checks.filter(({ group }) => group === "Raw body").map(({ status }) => status)).toEqual([
      ...Array<string>(3).fill("passed"),
      "not_applicable",
      "passed",
    ]);
  });
});

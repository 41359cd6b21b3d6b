import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { runCli } from "../support/run-cli.ts";
import { startApplication } from "./support/application.ts";
import { check, SECRETS, slackOver, started } from "./support/provider-check.ts";
import { receiverWith, type Verifier, VERIFIERS } from "./support/provider-receivers.ts";

const stripe = new Stripe("sk_test_unused");
const SECRET = "secret";

const resultOf = ({ checks }: ReceiverReport, id: string) => checks.find((result) => result.id === id)!;

/** Grades a receiver of GitHub that is not made of a verifier. */
async function reportOf(listener: RequestListener, args: readonly string[] = [], input = "{}") {
  const application = await startApplication(() => listener);
  started.push(application);
  const flags = ["--scheme", "github", "--payload", "-", "--secret", SECRET, ...args, "--json"];
  const { stdout } = await runCli(["webhooks", "check", application.webhooks, ...flags], { input });
  return JSON.parse(stdout) as ReceiverReport;
}

/** Responds with 2xx to every delivery, whatever the verification says. */
async function graded(effects: boolean, verify: Verifier, provider: "github" | "stripe" = "github") {
  const application = await startApplication((work) => {
    const receive = receiverWith(verify, SECRETS[provider])(work);
    return (request, response) => {
      const writeHead = response.writeHead.bind(response);
      response.writeHead = () => writeHead(204);
      response.end = (
        (end) => () =>
          end()
      )(response.end.bind(response)) as never;
      receive(request, response);
    };
  });
  started.push(application);
  const flags = ["--scheme", provider, "--secret", SECRETS[provider], "--json"];
  if (effects) flags.push("--probe", application.count);
  const { stdout } = await runCli(["webhooks", "check", application.webhooks, ...flags]);
  return JSON.parse(stdout) as ReceiverReport;
}

describe("the verdict of service webhooks check", () => {
  it.each(["github", "stripe"] as const)(
    "does not claim that a receiver of %s processes what it responds to with 2xx but drops",
    async (provider) => {
      const report = await graded(true, VERIFIERS[provider], provider);
      expect({ grade: report.grade, verdict: report.verdict }).toEqual({
        grade: "C",
        verdict: "The receiver processes no forged delivery, but responds with 2xx instead of rejecting it.",
      });
      const rejecting = report.checks.filter(({ status }) => status === "failed");
      expect(rejecting.map(({ id }) => id)).toContain("wrong-secret");
      for (const { explanation, fix } of rejecting) {
        expect(explanation).toMatch(/^The receiver responds with 2xx to a delivery that it does not process\./);
        expect(fix).toMatch(/^Respond with 400/);
      }
    },
  );

  it("states what it does not know if nothing shows whether forged deliveries are processed", async () => {
    const report = await graded(false, VERIFIERS.github);
    expect({ grade: report.grade, verdict: report.verdict }).toEqual({
      grade: "F",
      verdict: "The receiver responds with 2xx to signatures made with any secret.",
    });
    const { explanation } = resultOf(report, "wrong-secret");
    expect(explanation).toMatch(
      /^The receiver responds with 2xx to a signature made with any secret\. If it processes/,
    );
    expect(explanation).toContain("--effects");
  });

  it("reports that forged deliveries are processed if they are", async () => {
    const report = await graded(true, (_body, headers) => headers["x-github-delivery"]);
    expect(report.grade).toBe("F");
    expect(resultOf(report, "wrong-secret").explanation).toMatch(/^The receiver processes a delivery.*forged events/);
  });

  it.each<[string, "stripe" | "slack", Verifier]>([
    [
      "another limit of age",
      "stripe",
      (body, headers, secret) =>
        stripe.webhooks.constructEvent(body, String(headers["stripe-signature"]), secret, 86_400).id,
    ],
    ["no limit of age", "slack", slackOver((timestamp, body) => `v0:${timestamp}:${body}`)],
  ])("is right for a receiver with %s", async (_what, provider, verify) => {
    const { report } = await check(provider, verify);
    expect(resultOf(report, "t-301-s-old").explanation).toMatch(
      /^The receiver accepts a signature that is older than 300 s, so a captured delivery can be replayed/,
    );
  });

  it("reports that a receiver does not respond in time, not that it rejects valid deliveries", async () => {
    const { report } = await check("slack", () => new Promise(() => {}));
    expect(report.verdict).toBe("The receiver does not respond in time.");
  });

  it("does not ask for the final URL of a redirect without a location", async () => {
    const report = await reportOf((_request, response) => void response.writeHead(302).end());
    expect(report.checks[0]!.fix).toBe("Respond with 2xx in the receiver itself: redirects are not followed.");
  });

  it("sends a smaller burst if deliveries are large", async () => {
    const sizes: number[] = [];
    const report = await reportOf(
      (request, response) => {
        let size = 0;
        request.on("data", (chunk: Buffer) => (size += chunk.length));
        request.on("end", () => {
          sizes.push(size);
          const isValid = request.headers["x-hub-signature-256"] !== undefined;
          response.writeHead(isValid ? 204 : 400).end();
        });
      },
      [],
      JSON.stringify({ text: "a".repeat(12 * 1024 * 1024) }),
    );
    expect(resultOf(report, "burst-of-100")).toMatchObject({ sent: "8 valid deliveries at once" });
  });

  it("rejects a payload that is larger than any provider sends", async () => {
    const args = ["webhooks", "check", "1", "--scheme", "github", "--secret", SECRET, "--payload", "-"];
    const { exitCode, stderr } = await runCli(args, { input: "a".repeat(25 * 1024 * 1024 + 1) });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("--payload: larger than 25 MiB, the largest delivery of any provider"),
    });
  });

  it("quotes the prefix of a signature, and suggests no raw-body parser for a form", async () => {
    const first: Verifier = (body, headers, secret) =>
      VERIFIERS.standard(
        body,
        { ...headers, "webhook-signature": String(headers["webhook-signature"]).split(" ")[0] },
        secret,
      );
    const { report } = await check("standard", first);
    expect(resultOf(report, "unknown-schemes").fix).toBe(
      "Read the items that begin with `v1,`, and ignore all others.",
    );
    const small: Verifier = (body, headers, secret) => {
      if (body.length > 200_000) throw new Error("request entity too large");
      return slackOver((timestamp) => `v0:${timestamp}:${body}`)(body, headers, secret);
    };
    const { report: form } = await check("slack", small, { content: "command=%2Fweather&text=94070" });
    expect(resultOf(form, "body-one-mebibyte").fix).toBe(
      "Raise the limit of the body parser or proxy for this route to 1 MiB (in Express, the option `limit: '1mb'` of its parser).",
    );
  });

  it("reports that the sink's port is in use", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as AddressInfo;
    const args = ["webhooks", "check", "1", "--secret", SECRET, "--effects", "--sink", String(port)];
    const { stderr } = await runCli(args);
    blocker.close();
    expect(stderr).toContain(`--effects: cannot listen on 127.0.0.1:${port}: the port is in use`);
  });
});

import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sign } from "../../src/webhooks/index.ts";
import { SCHEMES, sign as signDelivery } from "../../src/webhooks/schemes.ts";
import { type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";

const SECRET = `whsec_${"a".repeat(44)}`;
const EVENT = {
  id: "evt_1",
  object: "event",
  type: "order.completed",
  created: "2026-11-01T00:00:00Z",
  livemode: false,
  data: { object: { id: "ord_1" } },
  request: { id: "req_1" },
};
const PAYLOAD = `${JSON.stringify(EVENT, undefined, 3)}\n`;
const NOW = 1_764_590_400;

function payloadFile(): string {
  const file = join(createConfigDir(), "event.json");
  writeFileSync(file, PAYLOAD);
  return file;
}

const verify = (header: string, ...args: string[]) =>
  runCli(
    ["webhooks", "verify", "--secret", SECRET, "--header", header, "--payload", "-", "--now", String(NOW), ...args],
    {
      input: PAYLOAD,
    },
  );

describe("service webhooks sign", () => {
  it("prints the same header value as the library", async () => {
    const expected = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });
    const args = ["webhooks", "sign", "--payload", payloadFile(), "--timestamp", String(NOW)];
    expect(await runCli([...args, "--secret", SECRET])).toEqual({ exitCode: 0, stdout: `${expected}\n`, stderr: "" });
    expect(await runCli(args, { env: { SERVICE_WEBHOOK_SECRET: SECRET } })).toMatchObject({ stdout: `${expected}\n` });
    expect(JSON.parse((await runCli([...args, "--secret", SECRET, "--json"])).stdout)).toEqual({
      header: expected,
      timestamp: NOW,
    });
  });

  it("signs with both secrets of a rotation", async () => {
    const args = ["webhooks", "sign", "--payload", "-", "--secret", SECRET, "--secret", `${SECRET.slice(0, -1)}b`];
    const { stdout } = await runCli(args, { input: PAYLOAD });
    expect(stdout.match(/v1=/g)).toHaveLength(2);
  });

  it("reads secrets from a file or stdin, which the process list does not show", async () => {
    const expected = sign({ payload: PAYLOAD, secrets: [SECRET, "whsec_2"], timestamp: NOW });
    const args = ["webhooks", "sign", "--payload", payloadFile(), "--timestamp", String(NOW), "--secret-file"];
    const input = `${SECRET}\n\n whsec_2\r\n`;
    const file = join(createConfigDir(), "secrets.txt");
    writeFileSync(file, input);
    expect(await runCli([...args, "-"], { input })).toEqual({ exitCode: 0, stdout: `${expected}\n`, stderr: "" });
    expect((await runCli([...args, file])).stdout).toBe(`${expected}\n`);
    expect(await runCli([...args, "-"], { input: "\n" })).toMatchObject({ exitCode: 2 });
    expect(await runCli([...args, file, "--secret", SECRET])).toMatchObject({ exitCode: 2 });
  });

  it("reports a missing secret", async () => {
    expect(await runCli(["webhooks", "sign", "--payload", payloadFile()])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "Error: No signing secret: pass --secret or --secret-file, or set SERVICE_WEBHOOK_SECRET\nSee `service webhooks sign --help`.\n",
    });
  });
});

describe("service webhooks verify", () => {
  const header = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });

  it("accepts a signed payload, and prints the event", async () => {
    const { exitCode, stdout, stderr } = await verify(header, "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(EVENT);
    expect((await verify(header)).stdout).toBe("event\tevt_1\ntype\torder.completed\ncreated\t2026-11-01T00:00:00Z\n");
  });

  it.each([
    ["another secret", sign({ payload: PAYLOAD, secrets: `${SECRET}x`, timestamp: NOW }), "signature_mismatch"],
    ["another body", sign({ payload: JSON.stringify(EVENT), secrets: SECRET, timestamp: NOW }), "signature_mismatch"],
    ["an old signature", sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW - 301 }), "timestamp_too_old"],
    ["one from the future", sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW + 301 }), "timestamp_in_future"],
    ["no signature", `t=${NOW}`, "signature_missing"],
    ["nonsense", "hello", "header_malformed"],
  ])("rejects %s, and reports the rule", async (_name, wrong, code) => {
    const { exitCode, stdout, stderr } = await verify(wrong);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^[A-Z].*\\.\\nRule: ${code}\\n`, "m"));
    expect(JSON.parse((await verify(wrong, "--json")).stderr)).toMatchObject({ code });
  });

  it.each([
    ["the payload without the whitespace at its end", { payload: PAYLOAD.trimEnd() }, `${PAYLOAD.trimEnd()}\n`],
    ["the payload with a line break at its end", { payload: `${PAYLOAD.trimEnd()}\n` }, PAYLOAD.trimEnd()],
    ["the payload with other line breaks", { payload: "{\r\n}" }, "{\n}"],
    [
      "the same fields, formatted in another way",
      { payload: JSON.stringify(EVENT) },
      JSON.stringify(EVENT, undefined, 4),
    ],
    ["the same fields, formatted in another way", { payload: '{"amount":10.50}' }, '{ "amount": 10.50 }'],
    [
      "the same fields, formatted in another way",
      { payload: JSON.stringify(EVENT, undefined, 2) },
      JSON.stringify(EVENT),
    ],
    ["the secret without whsec_", { secrets: SECRET.slice("whsec_".length) }, PAYLOAD],
    ["the secret decoded from base64", { scheme: { ...SCHEMES.service, secret: SCHEMES.standard.secret } }, PAYLOAD],
    ["the secret with a line break at its end", { secrets: `${SECRET}\n` }, PAYLOAD],
  ])("says that the signature matches %s", async (matches, signed, input) => {
    const given = { scheme: SCHEMES.service, payload: input, secrets: SECRET, timestamp: NOW - 301, ...signed };
    const headers = signDelivery(given)["Service-Signature"]!;
    const args = ["--secret", SECRET, "--header", headers, "--payload", "-", "--now", String(NOW)];
    const { exitCode, stderr } = await runCli(["webhooks", "verify", ...args], { input });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(`Error: Verification failed: the signature matches ${matches}\n`);
    expect(stderr).toContain("Rule: signature_mismatch");
  });

  it("says that the payload was formatted, if it cannot restore what was signed", async () => {
    const header = sign({ payload: '{"amount":10.50}', secrets: SECRET, timestamp: NOW });
    const { stderr } = await runCli(
      ["webhooks", "verify", "--secret", SECRET, "--header", header, "--payload", "-", "--now", String(NOW)],
      { input: '{\n  "amount": 10.5\n}' },
    );
    expect(stderr).toContain("The payload is JSON with line breaks, so it was probably formatted");
  });

  it("says that the signature covers the body alone", async () => {
    const { stderr } = await verify(`t=${NOW},v1=${createHmac("sha256", SECRET).update(PAYLOAD).digest("hex")}`);
    expect(stderr).toContain("the signature matches {body}\n");
    expect(stderr).toContain("Service signs {timestamp}.{body}: sign that.\n");
  });

  it("accepts an older signature with --tolerance", async () => {
    const old = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW - 301 });
    expect((await verify(old, "--tolerance", "302")).exitCode).toBe(0);
  });
});

const ACME = `schemes:
  acme:
    signed: "{id}:{body}"
    signature: { header: Acme-Signature, prefix: "sha256=", encoding: base64 }
    id: { header: Acme-Id }
    secret: { encoding: base64 }
`;

/** Runs in a folder with the text as its service.yaml. */
function inProject(text: string): (args: string[], options?: { input?: string }) => Promise<CliResult> {
  const cwd = createConfigDir();
  writeFileSync(join(cwd, "service.yaml"), text);
  return (args, options) => runCli(["webhooks", ...args], { cwd, ...options });
}

describe("--scheme", () => {
  const service = inProject(ACME);

  it.each([
    ["github", "secret"],
    ["shopify", "secret"],
    ["slack", "secret"],
    ["stripe", "whsec_secret"],
    ["standard", "whsec_c2VjcmV0"],
    ["svix", "whsec_c2VjcmV0"],
    ["service", SECRET],
    ["acme", "c2VjcmV0"],
  ])("signs for %s what it verifies, and rejects another payload", async (scheme, secret) => {
    const known = ["--scheme", scheme, "--secret", secret, "--payload", "-"];
    const { stdout } = await service(["sign", ...known], { input: PAYLOAD });
    const headers = stdout
      .trimEnd()
      .split("\n")
      .flatMap((line) => ["--header", line]);
    const verified = await service(["verify", ...known, ...headers, "--json"], { input: PAYLOAD });
    expect(verified).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(verified.stdout)).toMatchObject({ scheme: expect.stringMatching(new RegExp(scheme, "i")) });
    const changed = await service(["verify", ...known, ...headers], { input: `${PAYLOAD} ` });
    expect(changed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Rule: signature_mismatch") });
  });

  it("reports the scheme of another provider's header", async () => {
    const { exitCode, stderr } = await service(
      ["verify", "--secret", SECRET, "--header", "stripe-signature: t=1,v1=0", "--payload", "-"],
      { input: "{}" },
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Stripe-Signature is the header of Stripe: pass --scheme stripe");
  });

  const verifyGitHub = (payload: string, headers: readonly string[], ...args: string[]) => {
    const known = ["--scheme", "github", "--secret", "secret", "--payload", "-"];
    return service(["verify", ...known, ...headers.flatMap((header) => ["--header", header]), ...args], {
      input: payload,
    });
  };

  it("accepts the signature header's value without a name, and headers that were pasted together", async () => {
    const value = "sha256=5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0";
    const own = createHmac("sha256", "secret").update("{}").digest("hex");
    expect((await verifyGitHub("{}", [`sha256=${own}`])).exitCode).toBe(0);
    expect((await verifyGitHub("{}", [value])).stderr).toContain("Rule: signature_mismatch");
    const pasted = `POST / HTTP/1.1\r\nX-GitHub-Delivery: d-1\r\nX-Hub-Signature-256: sha256=${own}\r\n\r\n`;
    expect((await verifyGitHub("{}", [pasted])).stdout).toBe("scheme\tGitHub\nid\td-1\n");
  });

  it("reports the missing header, and no platform", async () => {
    const { stderr } = await verifyGitHub("{}", ["X-GitHub-Event: push"]);
    expect(stderr).toContain("GitHub also sends X-Hub-Signature-256");
    expect(stderr).not.toContain("platform");
  });

  it("prints the ID of a header or of the body, and none if there is none", async () => {
    const headerOf = async (scheme: string, payload: string): Promise<string> => {
      const { stdout } = await service(["sign", "--scheme", scheme, "--secret", "secret", "--payload", "-"], {
        input: payload,
      });
      return stdout.split("\n").find((line) => /signature/i.test(line))!;
    };
    const header = await headerOf("github", "{}");
    expect((await verifyGitHub("{}", [header])).stdout).toBe("scheme\tGitHub\n");
    expect((await verifyGitHub("{}", [header, "X-GitHub-Delivery: d-1"])).stdout).toBe("scheme\tGitHub\nid\td-1\n");
    expect((await verifyGitHub("{}", [header], "--fields", "scheme,id")).stdout).toBe("scheme\tGitHub\nid\t\n");
    const payload = '{"id":"evt_9"}';
    const args = ["--scheme", "stripe", "--secret", "secret", "--payload", "-", "--header"];
    const { stdout } = await service(["verify", ...args, await headerOf("stripe", payload)], { input: payload });
    expect(stdout).toMatch(/^scheme\tStripe\nid\tevt_9\ntimestamp\t\d+\n$/);
  });

  it.each([
    ["slack", `X-Slack-Signature: v0=${"0".repeat(64)}`, "Slack also sends X-Slack-Request-Timestamp"],
    ["github", "X-Hub-Signature: sha1=00", "X-Hub-Signature is the older signature, with SHA-1"],
    ["slack", "Stripe-Signature: t=1,v1=00", "Stripe-Signature is the header of Stripe: pass --scheme stripe"],
  ])("names the header of %s that was not passed", async (scheme, header, text) => {
    const args = ["verify", "--scheme", scheme, "--secret", "secret", "--header", header, "--payload", "-"];
    expect(await service(args, { input: "{}" })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(text) });
  });

  it("lists the fields of a delivery in the help of verify", async () => {
    expect((await runCli(["webhooks", "verify", "--help"])).stdout).toMatch(
      /^Fields \(for --fields and --jq\)\n +scheme, id, timestamp/m,
    );
  });

  it("prints the headers of the library as lines and as JSON", async () => {
    const args = ["sign", "--scheme", "acme", "--id", "d_1", "--secret", "c2VjcmV0", "--payload", "-"];
    const signature = createHmac("sha256", "secret").update(`d_1:${PAYLOAD}`).digest("base64");
    const { stdout } = await service(args, { input: PAYLOAD });
    expect(stdout).toBe(`Acme-Id: d_1\nAcme-Signature: sha256=${signature}\n`);
    expect(JSON.parse((await service([...args, "--json"], { input: PAYLOAD })).stdout)).toEqual({
      headers: { "Acme-Id": "d_1", "Acme-Signature": `sha256=${signature}` },
    });
  });

  it("signs a payload that is not JSON", async () => {
    const args = ["sign", "--scheme", "github", "--secret", "It's a Secret to Everybody", "--payload", "-"];
    expect((await service(args, { input: "Hello, World!" })).stdout).toContain(
      "X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17\n",
    );
  });

  it.each([
    ["strip", SECRET, 'Unknown scheme "strip"', "Did you mean stripe?"],
    ["acm", SECRET, 'Unknown scheme "acm"', "Did you mean acme?"],
    ["zzz", SECRET, 'Unknown scheme "zzz"', "Schemes: service, standard"],
    ["standard", "secret", "a Standard Webhooks secret is base64 after whsec_", ""],
    ["acme", "!", "an acme secret is base64", ""],
  ])("rejects %s with the secret %s", async (scheme, secret, message, hint) => {
    const args = ["sign", "--scheme", scheme, "--secret", secret, "--payload", "-"];
    const { exitCode, stdout, stderr } = await service(args, { input: PAYLOAD });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  it("reports an error in service.yaml with its place", async () => {
    const broken = inProject(
      `${ACME}  other:\n    signed: "{body}{time}"\n    signature: { header: A, encoding: hex }\n`,
    );
    const args = ["sign", "--scheme", "acme", "--secret", SECRET, "--payload", "-"];
    expect(await broken(args, { input: PAYLOAD })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        "service.yaml:8:13: schemes.other.signed: {time} is none of {id}, {timestamp} and",
      ),
    });
    expect(await broken(["sign", "--scheme", "stripe", ...args.slice(3)], { input: PAYLOAD })).toMatchObject({
      exitCode: 0,
    });
  });

  it("accepts a header without a name as the signature", async () => {
    const args = ["verify", "--scheme", "github", "--secret", SECRET, "--header", "sha256=00", "--payload", "-"];
    expect(await service(args, { input: PAYLOAD })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("a signature in X-Hub-Signature-256 is not an HMAC-SHA256 in hex"),
    });
  });
});

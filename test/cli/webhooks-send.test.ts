import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Scheme, SCHEMES, type SchemeName, verify } from "../../src/webhooks/schemes.ts";
import { PROVIDER_PAYLOADS } from "../../src/receiver-check/provider-payloads.ts";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { type ArrivedRequest, startAnyReceiver } from "./support/any-receiver.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const PAYLOAD = `{ "id": "evt_1", "event_id": "Ev1",\n  "data": {"object": {"amount": 1}}, "name": "Zoë" }\n`;

function fileWith(content: string | Uint8Array): string {
  const file = join(createConfigDir(), "payload.json");
  writeFileSync(file, content);
  return file;
}

const send = (url: string, args: readonly string[], content: string | Uint8Array = PAYLOAD) =>
  runCli(["webhooks", "send", url, "--payload", fileWith(content), "--secret", SECRET, ...args]);

const verified = (scheme: SchemeName, { headers, body }: ArrivedRequest) =>
  verify({ scheme, payload: body, headers, secrets: SECRET });

describe("service webhooks send", () => {
  it.each(Object.keys(SCHEMES) as SchemeName[])("sends the exact bytes, signed with the scheme %s", async (scheme) => {
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await send(receiver.url, ["--scheme", scheme]);
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/Warning|Error/);
    const [request] = receiver.requests;
    expect(request!.body.toString()).toBe(PAYLOAD);
    expect(() => verified(scheme, request!)).not.toThrow();
  });

  it("sends a sample of the event type that is named", async () => {
    const receiver = await startAnyReceiver();
    const args = ["webhooks", "send", receiver.url, "--secret", SECRET, "--type", "customer.deleted"];
    expect((await runCli(args)).exitCode).toBe(0);
    expect(JSON.parse(receiver.requests[0]!.body.toString())).toMatchObject({ type: "customer.deleted" });
    expect(await send(receiver.url, ["--type", "customer.deleted"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--type cannot be combined with --payload"),
    });
  });

  it("prints the status, the time and the first lines of the response", async () => {
    const receiver = await startAnyReceiver((response) => response.end(`\u001b[31mred\n${"line\n".repeat(20)}`));
    const args = ["webhooks", "send", receiver.url, "--payload", fileWith(PAYLOAD)];
    const session = runInTerminal(args, { env: { SERVICE_WEBHOOK_SECRET: SECRET } });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(
      /^200 in \S+ ?\w* {2}evt_1\n {2}\\u001b\[31mred\n(?: {2}line\n){9} {2}… 11 more lines; for all/,
    );
  });

  it("prints a line for each delivery in a pipe, with the detail of problem details", async () => {
    const problem = { type: "about:blank", title: "Bad request", status: 400, detail: "The amount\tis missing" };
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end(JSON.stringify(problem)));
    const { exitCode, stdout } = await send(receiver.url, ["--scheme", "stripe", "--count", "2"]);
    expect(exitCode).toBe(1);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(line).toMatch(/^400\t[\d.]+\tevt_\w{22}\tThe amount\\tis missing\tCheck that the receiver uses/);
    const { stdout: chosen } = await send(receiver.url, ["--fields", "status,id"]);
    expect(chosen).toBe("400\tevt_1\n");
  });

  it("prints the signed delivery with --dry-run, and sends nothing", async () => {
    const receiver = await startAnyReceiver();
    const { exitCode, stdout } = await send(receiver.url, ["--dry-run", "--json"]);
    expect(exitCode).toBe(0);
    const shown = JSON.parse(stdout) as { headers: [string, string][]; body: string };
    expect(shown).toMatchObject({ dry_run: true, method: "POST", url: `${receiver.url}/`, body: PAYLOAD });
    expect(() =>
      verify({ scheme: "service", payload: shown.body, headers: Object.fromEntries(shown.headers), secrets: SECRET }),
    ).not.toThrow();
    expect((await send(receiver.url, ["--dry-run"])).stdout).toMatch(
      /^POST http:\S+\n([\w-]+: .+\n)*Service-Signature: t=\d+,v1=\w+\n\n\{ "id": "evt_1"/,
    );
    const args = ["webhooks", "send", receiver.url, "--scheme", "github", "--type", "ping", "--dry-run"];
    const session = runInTerminal(args, { env: { SERVICE_WEBHOOK_SECRET: SECRET } });
    expect(await session.ended).toBe(0);
    for (const part of ["X-Hub-Signature-256: sha256=", "X-GitHub-Event: ping", '"zen":', "Nothing was sent."])
      expect(session.text()).toContain(part);
    expect(receiver.requests).toEqual([]);
  });

  it.each(
    Object.entries(PROVIDER_PAYLOADS).flatMap(([name, payloads]) => Object.keys(payloads).map((type) => [name, type])),
  )("sends the sample of %s with the type %s, as JSON with an ID", async (name, type) => {
    const receiver = await startAnyReceiver();
    const args = ["webhooks", "send", receiver.url, "--secret", SECRET, "--scheme", name, "--type", type];
    expect(await runCli(args)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`: ${type}. `) });
    const [request] = receiver.requests;
    expect(() => verified(name as SchemeName, request!)).not.toThrow();
    const body = JSON.parse(request!.body.toString()) as { type?: string; event?: { type: string } };
    const { headers } = request!;
    const types = [headers["x-github-event"], headers["x-shopify-topic"], body.event?.type, body.type];
    expect(types.find((one) => one !== undefined)).toBe(type);
  });

  it("names the samples of a provider if there is none of a type", async () => {
    const args = ["webhooks", "send", "localhost:1", "--secret", SECRET, "--scheme", "github", "--type", "fork"];
    expect(await runCli(args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/"fork" is not a sample of GitHub\nSamples: push, ping, pull_request, /),
    });
  });

  it("prints a JSON line for each delivery, which has the ID that was sent", async () => {
    const receiver = await startAnyReceiver((response) => response.end("ok"));
    const { stdout } = await send(receiver.url, ["--scheme", "standard", "--count", "3", "--json"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; status: number; body: string });
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({ status: 200, body: "ok", error: null });
    expect(lines.map(({ id }) => id)).toEqual(receiver.requests.map(({ headers }) => headers["webhook-id"]));
    expect(new Set(lines.map(({ id }) => id)).size).toBe(3);
  });

  it("gives each of several deliveries its own ID in the body", async () => {
    const receiver = await startAnyReceiver();
    expect((await send(receiver.url, ["--scheme", "stripe", "--count", "3"])).exitCode).toBe(0);
    const ids = receiver.requests.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain("evt_1");
    for (const request of receiver.requests) expect(() => verified("stripe", request)).not.toThrow();
  });

  it("changes values of the payload before it signs", async () => {
    const receiver = await startAnyReceiver();
    await send(receiver.url, ["--scheme", "github", "--set", "data.object.amount=500", "--set", "name=Ada"]);
    const [request] = receiver.requests;
    expect(JSON.parse(request!.body.toString())).toMatchObject({ data: { object: { amount: 500 } }, name: "Ada" });
    expect(() => verified("github", request!)).not.toThrow();
  });

  it.each<[SchemeName, RegExp]>([
    ["standard", /^msg_\w{22}$/],
    ["svix", /^msg_\w{22}$/],
    ["github", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ["shopify", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ["stripe", /^evt_\w{22}$/],
    ["slack", /^Ev\w{22}$/],
  ])("gives deliveries of %s IDs in the provider's format", async (scheme, form) => {
    const receiver = await startAnyReceiver();
    const { stdout } = await send(receiver.url, ["--scheme", scheme, "--count", "2", "--quiet"]);
    const ids = stdout.trimEnd().split("\n");
    for (const id of ids) expect(id).toMatch(form);
    const { header = "", path = "" } = (SCHEMES[scheme] as Scheme).id!;
    const inBody = ({ body }: ArrivedRequest) => (JSON.parse(body.toString()) as Record<string, unknown>)[path];
    expect(receiver.requests.map((request) => request.headers[header.toLowerCase()] ?? inBody(request))).toEqual(ids);
  });

  it("sends the ID of --set even with --count and without --payload, as a deliberate duplicate", async () => {
    const receiver = await startAnyReceiver();
    await send(receiver.url, ["--scheme", "stripe", "--set", "id=evt_same", "--count", "2"]);
    const args = [
      "webhooks",
      "send",
      receiver.url,
      "--scheme",
      "slack",
      "--secret",
      SECRET,
      "--set",
      "event_id=Ev_same",
    ];
    expect((await runCli(args)).stdout).toMatch(/^200\t[\d.]+\tEv_same\t\t\n$/);
    const ids = receiver.requests.map(({ body }) => JSON.parse(body.toString()) as { id?: string; event_id?: string });
    expect(ids).toMatchObject([{ id: "evt_same" }, { id: "evt_same" }, { event_id: "Ev_same" }]);
  });

  it("warns about a payload that is not JSON if the provider sends JSON", async () => {
    const receiver = await startAnyReceiver();
    const warning = /^Warning: The payload is not JSON, but those of Stripe are/;
    expect((await send(receiver.url, ["--scheme", "stripe"], "a b")).stderr).toMatch(warning);
    expect((await send(receiver.url, ["--scheme", "slack"], "a=b")).stderr).toBe("");
    const unreached = await send("localhost:1", ["--scheme", "stripe"], "a b");
    expect(unreached.exitCode).toBe(7);
    expect(unreached.stdout).not.toContain("not JSON");
  });

  it("suggests a check with the same headers and options, but without secrets", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end());
    const headers = ["-H", "X-GitHub-Event: ping", "-H", "Authorization: Bearer abc"];
    const { stdout } = await send(receiver.url, ["--scheme", "github", ...headers, "--skip-verify"]);
    expect(stdout).toMatch(/ -H 'X-GitHub-Event: ping' --skip-verify \(with the same --secret\)\n$/);
    expect(stdout).not.toMatch(/Bearer|whsec_/);
    const file = fileWith(SECRET);
    const known = await runCli(["webhooks", "send", receiver.url, "--secret-file", file]);
    expect(known.stdout).toMatch(new RegExp(`check \\S+ --secret-file ${file}\n$`));
  });

  it("keeps numbers that JavaScript would round, next to those that change", async () => {
    const receiver = await startAnyReceiver();
    const payload = '{"id":12345678901234567891,"a":0,"b":[12345678901234567890,1.10,1E+400]}';
    await send(receiver.url, ["--set", "a=1"], payload);
    await send(receiver.url, ["--count", "2"], payload);
    const [changed, first, second] = receiver.requests.map(({ body }) => body.toString());
    expect(changed).toBe(payload.replace('"a":0', '"a":1'));
    for (const body of [first, second])
      expect(body).toMatch(/^\{"id":\d{16},"a":0,"b":\[12345678901234567890,1\.10,1E\+400\]\}$/);
  });

  it("suggests another scheme if none was given and the receiver rejects the delivery", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end());
    expect((await send(receiver.url, [])).stdout).toMatch(/\tIf the receiver .* another provider, pass --scheme/);
    expect((await send(receiver.url, ["--scheme", "github"])).stdout).toMatch(
      /\tCheck .* uses the same secret and verifies the raw body. To find the mistake: .*webhooks check .* --scheme github --payload /,
    );
  });

  it("blames a parsed body, not the secret, if the response of a provider's library does", async () => {
    const text = "Webhook payload must be provided as a string or a Buffer";
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end(text));
    const { stdout } = await send(receiver.url, ["--scheme", "stripe"]);
    expect(stdout).toMatch(/\tVerify the raw request body/);
    expect(stdout).not.toMatch(/secret/);
  });

  it.each(Object.keys(SCHEMES) as SchemeName[])(
    "sends a sample of %s with a new ID if --payload is missing, and mentions it",
    async (scheme) => {
      const receiver = await startAnyReceiver();
      const args = ["webhooks", "send", receiver.url, "--scheme", scheme, "--secret", SECRET, "--quiet"];
      const ids = [await runCli(args), await runCli(args)].map(({ stdout }) => stdout.trim());
      expect(new Set(ids).size).toBe(2);
      for (const request of receiver.requests) expect(() => verified(scheme, request)).not.toThrow();
      expect((await runCli(args.slice(0, -1))).stderr).toMatch(/^Sending a sample.*pass --payload\.\n$/);
    },
  );

  it("does not suggest --type to a user who has passed it", async () => {
    const receiver = await startAnyReceiver();
    const args = ["webhooks", "send", receiver.url, "--scheme", "stripe", "--secret", SECRET];
    expect((await runCli(args)).stderr).toContain("For another type, pass --type.");
    expect((await runCli([...args, "--type", "invoice.paid"])).stderr).toBe(
      "Sending a sample of Stripe: invoice.paid. To send your own payload, pass --payload.\n",
    );
  });

  it("prints no ID if the delivery has none", async () => {
    const receiver = await startAnyReceiver();
    const args = ["--scheme", "stripe"];
    expect((await send(receiver.url, args, "{}")).stdout).toMatch(/^200\t[\d.]+\t\t\t\n$/);
    expect((await send(receiver.url, [...args, "--quiet"], "{}")).stdout).toBe("");
    expect(JSON.parse((await send(receiver.url, [...args, "--json"], "{}")).stdout)).toMatchObject({ id: null });
  });

  it.each<[string, string | Uint8Array, string]>([
    ["JSON", "[1]", "application/json"],
    ["a form", "payload=%7B%7D&a=", "application/x-www-form-urlencoded"],
    ["text", "a = b", "text/plain; charset=utf-8"],
    ["bytes", Buffer.from([0xff, 0]), "application/octet-stream"],
  ])("sends the type of %s", async (_what, content, type) => {
    const receiver = await startAnyReceiver();
    await send(receiver.url, ["--scheme", "github"], content);
    expect(receiver.requests[0]!.headers["content-type"]).toBe(type);
  });

  it("sends headers that replace those of the scheme's example", async () => {
    const receiver = await startAnyReceiver();
    await send(receiver.url, ["--scheme", "github", "-H", "x-github-event: ping", "-H", "Content-Type: text/plain"]);
    expect(receiver.requests[0]!.headers).toMatchObject({ "x-github-event": "ping", "content-type": "text/plain" });
  });

  it("sends bytes that are not JSON if the scheme does not need JSON", async () => {
    const receiver = await startAnyReceiver();
    const bytes = Buffer.from([0xff, 0, 0x0a]);
    expect((await send(receiver.url, ["--scheme", "github", "--count", "2"], bytes)).exitCode).toBe(0);
    expect(receiver.requests.map(({ body }) => body)).toEqual([bytes, bytes]);
  });

  it("exits with 1 if a receiver rejects the delivery, and with 7 if it is not running", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(500).end("boom"));
    expect(await send(receiver.url, [])).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^500\t[\d.]+\tevt_1\tboom\t/),
    });
    const port = await freePort();
    const { exitCode, stdout } = await send(`localhost:${port}`, ["--json"]);
    expect(exitCode).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({ status: null, error: { code: "connection_refused" } });
  });

  it.each<[string, string[], string | undefined, RegExp]>([
    [
      "a payload that is not JSON where --set needs it",
      ["--set", "a=1"],
      "a=1",
      /--set: the payload is not a JSON object/,
    ],
    [
      "a payload that is not JSON where the ID is in it",
      ["--count", "2"],
      "[]",
      /--count: the payload has no string or number at id/,
    ],
    [
      "a path that the payload lacks",
      ["--set", "data.object.amuont=1"],
      undefined,
      /no data\.object\.amuont[^]*amount/,
    ],
    [
      "a payload without the ID that --count replaces",
      ["--count", "2"],
      "{}",
      /--count: the payload has no string or number at id/,
    ],
    ["a secret of the wrong form", ["--scheme", "svix", "--secret", "whsec_?"], undefined, /base64 after whsec_/],
    ["an unknown scheme", ["--scheme", "strip"], undefined, /Unknown scheme "strip"[^]*stripe/],
    ["a header that the signature sets", ["-H", "Service-Signature: x"], undefined, /--header: Service-Signature/],
    ["a header of the connection", ["-H", "Connection: close"], undefined, /--header: Connection/],
  ])("sends nothing with %s", async (_what, args, content, reason) => {
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await send(receiver.url, args, content);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(reason) });
    expect(receiver.requests).toEqual([]);
  });
});

import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sign, verify } from "../../src/webhooks/schemes.ts";
import { listen } from "../client/support/scripted-server.ts";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, interruption, runCli } from "../support/run-cli.ts";
import { spawnCommand } from "../support/running-command.ts";
import { type ArrivedRequest, startAnyReceiver } from "./support/any-receiver.ts";
import { startCapture } from "./support/capturing.ts";

const SECRET = "stripe-secret";
const BODY = '{ "id": "evt_1", "type": "charge.succeeded",\n "name": "Zoë" }\n';
const BINARY = Buffer.from([0xff, 0xfe, 0x00, 0x0a]);

const signed = (body: string) => sign({ scheme: "stripe", payload: body, secrets: SECRET });

const post = (url: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers });

const file = () => join(createConfigDir(), "webhooks.ndjson");

const verified = ({ body, headers }: ArrivedRequest) =>
  verify({ scheme: "stripe", payload: body, headers, secrets: SECRET });

const namesOf = (rawHeaders: readonly string[]) => rawHeaders.filter((_, i) => i % 2 === 0);

describe("service webhooks capture", () => {
  it("forwards the exact bytes with the original headers, and returns the receiver's status and body", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(202).end("challenge"));
    const capture = await startCapture(["--forward-to", receiver.url]);
    const headers = { ...signed(BODY), "X-Custom": "Value", "Content-Type": "application/json" };
    const response = await post(capture.url, BODY, headers);
    expect({ status: response.status, body: await response.text() }).toEqual({ status: 202, body: "challenge" });
    const [request] = receiver.requests;
    expect(request!.body.toString()).toBe(BODY);
    expect(request!.headers).toMatchObject({ "x-custom": "Value", "content-type": "application/json" });
    expect(namesOf(request!.rawHeaders)).toContain("X-Custom");
    expect(() => verified(request!)).not.toThrow();
    expect((await post(capture.url, BINARY)).status).toBe(202);
    expect(receiver.requests[1]!.body).toEqual(BINARY);
    expect(await capture.interrupt()).toBe(0);
    expect(capture.records.at(-1)).toMatchObject({ event: "summary", received: 2, forwarded: 2, failed: 0 });
  });

  it("does not forward hop-by-hop headers", async () => {
    const receiver = await startAnyReceiver();
    const capture = await startCapture(["--forward-to", receiver.url]);
    const hop = { Connection: "close, X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5", TE: "trailers", Host: "a.test" };
    const request = httpRequest(capture.url, { method: "POST", headers: { ...hop, "X-End": "1" } });
    request.end(BODY);
    await once(request, "response");
    const { headers } = receiver.requests[0]!;
    expect(headers).toMatchObject({ "x-end": "1", host: new URL(receiver.url).host });
    for (const name of ["x-hop", "keep-alive", "te", "transfer-encoding"]) expect(headers).not.toHaveProperty(name);
  });

  it("returns 200 without a receiver, and 502 if the receiver does not respond", async () => {
    const alone = await startCapture([]);
    expect((await post(alone.url, BODY)).status).toBe(200);
    expect(await alone.record(({ event }) => event === "received")).toMatchObject({
      id: "evt_1",
      type: "charge.succeeded",
      payload: { id: "evt_1" },
    });
    const capture = await startCapture(["--forward-to", `localhost:${await freePort()}`]);
    const response = await post(capture.url, BODY);
    expect({ status: response.status, body: await response.text() }).toEqual({
      status: 502,
      body: "The receiver did not answer.\n",
    });
    expect(await capture.record(({ event }) => event === "forwarded")).toMatchObject({
      error: { code: "connection_refused" },
    });
  });

  it("shows whether a signature is valid, and always forwards the delivery", async () => {
    const receiver = await startAnyReceiver();
    const capture = await startCapture(["--forward-to", receiver.url, "--scheme", "stripe", "--secret", SECRET]);
    await post(capture.url, BODY, signed(BODY));
    await post(capture.url, BODY, signed(`${BODY} `));
    await post(capture.url, BODY);
    await capture.interrupt();
    const received = capture.records.filter(({ event }) => event === "received");
    expect(received).toMatchObject([
      { verified: true },
      { verified: false, reason: { code: "signature_mismatch" } },
      { verified: false, reason: { code: "header_missing" } },
    ]);
    expect(receiver.requests).toHaveLength(3);
  });

  it("blames a missing signature, not the secret, if the receiver rejects a delivery without one", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(401).end("no signature"));
    const hintOf = async (args: string[], headers?: Record<string, string>) => {
      const capture = await startCapture(["--forward-to", receiver.url, ...args]);
      await post(capture.url, BODY, headers);
      return (await capture.record(({ event }) => event === "forwarded"))["hint"];
    };
    expect(await hintOf(["--scheme", "stripe", "--secret", SECRET])).toMatch(/has no Stripe-Signature header/);
    expect(await hintOf([])).toMatch(/has no signature of a known provider/);
    expect(await hintOf([], signed(BODY))).toMatch(/uses the same secret/);
  });

  it("returns the challenge with which a provider verifies a URL", async () => {
    const capture = await startCapture([]);
    const textOf = async (path: string) => {
      const response = await fetch(`${capture.url}${path}`);
      return [response.status, response.headers.get("content-type"), await response.text()];
    };
    const plain = "text/plain; charset=utf-8";
    expect(await textOf("?hub.mode=subscribe&hub.challenge=1158201444")).toEqual([200, plain, "1158201444"]);
    expect(await textOf("?challenge=%3Cb%3E")).toEqual([200, plain, "<b>"]);
    const slack = await post(capture.url, '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV"}');
    expect([slack.status, await slack.text()]).toEqual([200, "3eZbrw1aBm2rZgRNFdxV"]);
  });

  it("does not claim to drop duplicates", async () => {
    const controller = new AbortController();
    let stderr = "";
    const onStderr = (text: string) => {
      stderr += text;
      if (stderr.includes("Ctrl-C")) controller.abort(interruption());
    };
    const { stdout } = await runCli(["webhooks", "capture", "--port", "0"], { signal: controller.signal, onStderr });
    expect(stdout).toBe("");
    expect(stderr).toMatch(/Summary {2}0 received, 0 forwarded, 0 failed\n/);
  });

  it("exits on SIGTERM with its summary and no error", async () => {
    const capture = await startCapture([]);
    expect(await capture.interrupt("SIGTERM")).toBe(143);
    expect(capture.stderr()).toBe("");
    expect(capture.records.at(-1)).toMatchObject({ event: "summary" });
  });

  it("shows the ID and type from GitHub's headers", async () => {
    const capture = await startCapture([]);
    await post(capture.url, "{}", { "X-GitHub-Event": "issues", "X-GitHub-Delivery": "d-1" });
    expect(await capture.record(({ event }) => event === "received")).toMatchObject({ id: "d-1", type: "issues" });
  });

  it("records a delivery in a private file before it responds", async () => {
    const recording = file();
    const capture = await startCapture(["--record", recording]);
    await post(capture.url, BODY, { "X-Custom": "Value" });
    await post(capture.url, BINARY);
    expect(statSync(recording).mode & 0o777).toBe(0o600);
    const [first, second] = readFileSync(recording, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { headers: string[][]; body?: string; body_base64?: string });
    expect(first!.body).toBe(BODY);
    expect(first!.headers).toContainEqual(["X-Custom", "Value"]);
    expect(second!.body_base64).toBe(BINARY.toString("base64"));
  });

  it("appends to a recording", async () => {
    const recording = file();
    for (const body of ["first", "second"]) {
      const capture = await startCapture(["--record", recording]);
      await post(capture.url, body);
      await capture.interrupt();
    }
    const lines = readFileSync(recording, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { body: string }).body)).toEqual(["first", "second"]);
  });

  it.each(["my notes\n", '{"a":1}\n'])("does not start with a file that is not a recording: %j", async (text) => {
    const notes = file();
    writeFileSync(notes, text);
    const { exitCode, stderr } = await runCli(["webhooks", "capture", "--port", "0", "--record", notes]);
    const reason = /exists and is not a recording: line 1 is[^]*Choose another file/;
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(reason) });
    expect(readFileSync(notes, "utf8")).toBe(text);
  });

  it("does not accept a delivery that it cannot record", async () => {
    const capture = await startCapture(["--record", "/dev/full"]);
    await expect(post(capture.url, BODY)).rejects.toThrow();
    expect(await capture.ended).toBe(1);
    expect(capture.stderr()).toContain("cannot write /dev/full");
  });

  it("rejects deliveries while 100 MiB of deliveries wait for the receiver", async () => {
    const held: ServerResponse[] = [];
    let isFull = () => {};
    const full = new Promise<void>((resolve) => (isFull = resolve));
    const receiver = await startAnyReceiver((response) => {
      if (held.push(response) === 4) isFull();
    });
    const capture = await startCapture(["--forward-to", receiver.url, "--timeout", "1m"]);
    const large = Buffer.alloc(25 * 1024 * 1024, "a");
    const waiting = Array.from({ length: 4 }, () => post(capture.url, large));
    await full;
    expect((await post(capture.url, BODY)).status).toBe(503);
    for (const response of held) response.end();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("rejects other methods and bodies above 25 MiB, and continues", async () => {
    const capture = await startCapture([]);
    const response = await fetch(capture.url);
    expect({ status: response.status, allow: response.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
    const socket = connect(Number(new URL(capture.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = Buffer.alloc(1024 * 1024);
    const answered = once(socket.setEncoding("latin1"), "data");
    for (let i = 0; i < 26; i += 1) {
      socket.write("100000\r\n");
      socket.write(chunk);
      socket.write("\r\n");
    }
    expect(String(await answered)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    expect((await post(capture.url, BODY)).status).toBe(200);
  });

  it("closes the connection of a sender that is too slow, and continues", async () => {
    const capture = await startCapture([]);
    const socket = connect(Number(new URL(capture.url).port), "127.0.0.1");
    let answer = "";
    socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
    socket.write("POST / HTTP/1.1\r\nHost: a\r\n");
    await once(socket, "close");
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect((await post(capture.url, BODY)).status).toBe(200);
  });

  it("exits at once although senders keep connections open", async () => {
    const capture = spawnCommand(["webhooks", "capture", "--json", "--port", "0"]);
    const { url } = await capture.record(({ event }) => event === "ready");
    const socket = connect(Number(new URL(String(url)).port), "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => {});
    expect(await capture.interrupt()).toBe(0);
  });

  it("escapes control characters from the sender", async () => {
    let stdout = "";
    const controller = new AbortController();
    let printed = () => {};
    const ready = new Promise<void>((resolve) => (printed = resolve));
    const port = await freePort();
    const args = ["webhooks", "capture", "--port", String(port), "--secret", SECRET];
    const ended = runCli(args, {
      signal: controller.signal,
      onStdout: (text) => (stdout += text),
      onStderr: (text) => {
        if (text.includes("Ctrl-C")) printed();
      },
    });
    await ready;
    const id = "evt\u001b[31m\nFAKE";
    await post(`http://127.0.0.1:${port}`, JSON.stringify({ id, type: "a\u001b]0;x\u0007\nb" }));
    controller.abort();
    await ended;
    expect(stdout).toContain(String.raw`evt\u001b[31m\nFAKE`);
    expect(stdout).toContain(String.raw`a\u001b]0;x\u0007\nb`);
    expect(stdout).not.toContain("\u001b");
  });

  it.each<[string, string[], RegExp]>([
    ["a secret of the wrong form", ["--scheme", "standard", "--secret", "x"], /base64 after whsec_/],
    ["a scheme without a secret", ["--scheme", "stripe"], /No signing secret/],
    ["an unknown scheme", ["--scheme", "githug"], /Unknown scheme "githug"[^]*github/],
  ])("does not start with %s", async (_what, args, reason) => {
    const { exitCode, stderr } = await runCli(["webhooks", "capture", "--port", "0", ...args]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(reason) });
  });

  it("suggests the flag for another port if the port is in use", async () => {
    const url = await listen(createServer());
    const { exitCode, stderr } = await runCli(["webhooks", "capture", "--port", new URL(url).port]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/the port is in use by node \(process \d+\)[^]*--port/),
    });
  });
});

describe("service webhooks replay", () => {
  const replay = (recording: string, url: string, ...args: string[]) =>
    runCli(["webhooks", "replay", recording, "--forward-to", url, "--speed", "max", ...args]);

  async function captured(): Promise<string> {
    const recording = file();
    const capture = await startCapture(["--record", recording]);
    const old = sign({ scheme: "stripe", payload: BODY, secrets: SECRET, timestamp: 1000 });
    await post(capture.url, BODY, { ...old, "X-Custom": "Value" });
    await post(capture.url, BINARY, { ...old, "Content-Type": "application/octet-stream" });
    await capture.interrupt();
    return recording;
  }

  it("sends the recorded bytes with their original headers", async () => {
    const recording = await captured();
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await replay(recording, receiver.url, "--concurrency", "1", "-H", "X-Again: 1");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringMatching(/^\nSummary {2}2 read, 2 sent/),
    });
    const [first, second] = receiver.requests;
    expect(first!.body.toString()).toBe(BODY);
    expect(first!.headers).toMatchObject({ "x-custom": "Value", "x-again": "1" });
    expect(second!.body).toEqual(BINARY);
    expect(() => verified(first!)).toThrow(/timestamp/);
    const { body, headers } = first!;
    expect(verify({ scheme: "stripe", payload: body, headers, secrets: SECRET, now: 1000 })).toEqual({
      timestamp: 1000,
    });
  });

  it("signs the deliveries again with a scheme and a secret", async () => {
    const recording = await captured();
    const receiver = await startAnyReceiver();
    const args = ["--scheme", "stripe", "--secret", SECRET];
    expect((await replay(recording, receiver.url, ...args)).exitCode).toBe(0);
    expect(receiver.requests).toHaveLength(2);
    for (const request of receiver.requests) expect(() => verified(request)).not.toThrow();
    expect(receiver.requests.some(({ headers }) => headers["x-custom"] === "Value")).toBe(true);
  });

  it("signs with a scheme of service.yaml, which capture and send also support", async () => {
    const cwd = createConfigDir();
    writeFileSync(
      join(cwd, "service.yaml"),
      `schemes:
  acme:
    signed: "{timestamp}:{id}:{body}"
    signature: { header: Acme-Signature, prefix: "sha256=", encoding: base64 }
    timestamp: { header: Acme-Time, tolerance: 60 }
    id: { header: Acme-Delivery, prefix: dlv_ }
`,
    );
    writeFileSync(join(cwd, "event.json"), BODY);
    const recording = join(cwd, "acme.ndjson");
    const named = ["--scheme", "acme", "--secret", SECRET];
    const capture = await startCapture(["--record", recording, ...named], cwd);
    const sent = await runCli(["webhooks", "send", capture.url, "--payload", "event.json", ...named, "--json"], {
      cwd,
    });
    const { id } = JSON.parse(sent.stdout) as { id: string };
    expect(id).toMatch(/^dlv_\w{22}$/);
    expect(await capture.record(({ event }) => event === "received")).toMatchObject({ id, verified: true });
    await capture.interrupt();
    const receiver = await startAnyReceiver();
    const args = ["webhooks", "replay", recording, "--forward-to", receiver.url, "--speed", "max", ...named];
    expect((await runCli(args, { cwd })).exitCode).toBe(0);
    const [{ headers, body } = {} as ArrivedRequest] = receiver.requests;
    const mac = createHmac("sha256", SECRET)
      .update(`${String(headers["acme-time"])}:${id}:`)
      .update(body)
      .digest("base64");
    expect(headers).toMatchObject({ "acme-delivery": id, "acme-signature": `sha256=${mac}` });
  });

  it("warns before it signs a delivery whose signature was invalid", async () => {
    const recording = file();
    const args = ["--scheme", "stripe", "--secret", SECRET];
    const capture = await startCapture(["--record", recording, ...args]);
    await post(capture.url, BODY, signed(BODY));
    await post(capture.url, BODY.replace("evt_1", "evt_forged"), signed(BODY));
    await capture.interrupt();
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await replay(recording, receiver.url, ...args);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining(
        "Warning: The signature of evt_forged was not valid when it was captured (signature_mismatch). It is sent with a valid one.\n",
      ),
    });
    expect(receiver.requests).toHaveLength(2);
    expect((await replay(recording, receiver.url)).stderr).not.toContain("Warning");
    const strict = await startAnyReceiver((response) => response.writeHead(400).end());
    const rejected = await replay(recording, strict.url);
    expect(rejected.stderr).toMatch(
      /Hint: The signature was not valid when the delivery was captured \(signature_mismatch\)/,
    );
  });

  it("sends a recording without headers only with new signatures", async () => {
    const recording = file();
    writeFileSync(
      recording,
      `${JSON.stringify({ time: "2026-11-21T00:00:00Z", id: "evt_1", type: "a.b", body: BODY })}\n`,
    );
    const receiver = await startAnyReceiver();
    const original = await replay(recording, receiver.url);
    expect(original).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/without headers: .*--secret/) });
    expect(receiver.requests).toEqual([]);
    expect((await replay(recording, receiver.url, "--scheme", "stripe", "--secret", SECRET)).exitCode).toBe(0);
    expect(() => verified(receiver.requests[0]!)).not.toThrow();
  });

  it("lets `listen replay` sign captured events of the platform", async () => {
    const recording = await captured();
    const receiver = await startAnyReceiver();
    const args = ["listen", "replay", recording, "--forward-to", receiver.url, "--speed", "max", "--secret", SECRET];
    expect((await runCli(args)).exitCode).toBe(0);
    for (const { body, headers } of receiver.requests) {
      expect(() => verify({ scheme: "service", payload: body, headers, secrets: SECRET })).not.toThrow();
    }
    expect(receiver.requests.map(({ body }) => body)).toContainEqual(BINARY);
  });

  it.each<[string, string, string[], number, RegExp]>([
    ["a secret of the wrong form", '{"headers":[]}', ["--scheme", "svix", "--secret", "x"], 2, /base64 after whsec_/],
    ["a header that would break the request", '{"headers":[["A","b\\r\\nC: d"]]}', [], 1, /line 1 has invalid headers/],
    ["headers that are not pairs", '{"headers":{"A":"b"}}', [], 1, /line 1 has invalid headers/],
    ["a header that the signature sets", "{}", ["-H", "Service-Signature: x"], 2, /--header: Service-Signature/],
  ])("sends nothing with %s", async (_what, extra, args, code, reason) => {
    const recording = file();
    const event = { time: "2026-11-21T00:00:00Z", id: "evt_1", type: "a.b", body: "{}" };
    writeFileSync(recording, JSON.stringify({ ...event, ...(JSON.parse(extra) as object) }));
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await replay(recording, receiver.url, ...args);
    expect({ exitCode, stderr }).toEqual({ exitCode: code, stderr: expect.stringMatching(reason) });
    expect(receiver.requests).toEqual([]);
  });

  it("exits with 1 if a receiver rejects a delivery, and suggests signing an old one again", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end());
    const { exitCode, stderr } = await replay(await captured(), receiver.url);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/receivers of Stripe reject it after 300 s\. .*--secret-file/),
    });
  });
});

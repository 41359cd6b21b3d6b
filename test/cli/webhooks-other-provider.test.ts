import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sign } from "../../src/webhooks/schemes.ts";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, interruption, runCli } from "../support/run-cli.ts";
import { startAnyReceiver } from "./support/any-receiver.ts";
import { startCapture } from "./support/capturing.ts";

const SECRET = "secret";
const BODY = '{ "id": "evt_1" }';

describe("service webhooks", () => {
  it("reports the provider whose scheme a signature has", async () => {
    const capture = await startCapture(["--scheme", "stripe", "--secret", SECRET]);
    const headers = sign({ scheme: "github", payload: BODY, secrets: SECRET, id: "d-1" });
    await fetch(capture.url, { method: "POST", body: BODY, headers });
    expect(await capture.record(({ event }) => event === "received")).toMatchObject({
      reason: { code: "header_missing", message: "this is a signature of GitHub, not of Stripe: pass --scheme github" },
    });
  });

  it("prints the response's lines, and shows the path of a delivery without a type", async () => {
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end("first\nsecond\n"));
    const written = { stdout: "", stderr: "" };
    const controller = new AbortController();
    const port = await freePort();
    let changed = () => {};
    const ended = runCli(["webhooks", "capture", "--port", String(port), "-f", receiver.url], {
      signal: controller.signal,
      onStdout: (text) => {
        written.stdout += text;
        changed();
      },
      onStderr: (text) => {
        written.stderr += text;
        changed();
      },
    });
    const shows = async (stream: keyof typeof written, pattern: RegExp) => {
      while (!pattern.test(written[stream])) await new Promise<void>((resolve) => (changed = resolve));
    };
    await shows("stderr", /Ctrl-C/);
    for (const path of ["", "orders"]) await fetch(`http://127.0.0.1:${port}/${path}`, { method: "POST", body: "a=b" });
    await shows("stdout", /\t400\t\/orders\t/);
    controller.abort(interruption());
    await ended;
    expect(written.stdout).toMatch(
      /^\S+Z\treceived\tunknown\t\S+\t\t\t\n[^]*\t400\tunknown\t\S+\t\d+\t\tfirst.*second\n/,
    );
    expect(written.stderr).toMatch(/^ +Hint: /m);
  });

  it.each(["localhost", "127.0.0.1", "[::1]", "0.0.0.0"])("does not forward to itself at %s", async (host) => {
    const port = String(await freePort());
    const { exitCode, stderr } = await runCli(["webhooks", "capture", "--port", port, "-f", `${host}:${port}`]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/Error: --forward-to: \S+ is the address at which this command captures\n.*another --port/);
  });

  it("warns once if a recording's deliveries come from another provider than the scheme's", async () => {
    const receiver = await startAnyReceiver();
    const recording = join(createConfigDir(), "stripe.ndjson");
    const headers = Object.entries(sign({ scheme: "stripe", payload: BODY, secrets: SECRET }));
    const event = { time: "2026-11-21T00:00:00Z", id: "evt_1", type: "a.b", headers, body: BODY };
    writeFileSync(recording, `${JSON.stringify(event)}\n${JSON.stringify(event)}\n`);
    const args = ["--scheme", "github", "--secret", SECRET];
    const { stderr } = await runCli(["webhooks", "replay", recording, "-f", receiver.url, "--speed", "max", ...args]);
    expect(stderr.match(/^Warning: .*/gm)).toEqual([
      "Warning: The recording contains deliveries of Stripe, which are signed as GitHub. To sign them as Stripe, pass --scheme stripe.",
    ]);
  });

  it("removes spaces around a secret, with a warning", async () => {
    const args = ["webhooks", "sign", "--payload", "-", "--timestamp", "1", "--secret"];
    const right = await runCli([...args, SECRET], { input: BODY });
    const spaced = await runCli([...args, `${SECRET} `], { input: BODY });
    expect(spaced.stdout).toBe(right.stdout);
    expect(spaced.stderr).toBe("Warning: --secret: the spaces around the secret were removed.\n");
  });

  it("checks with the sample of another type, and with changed values", async () => {
    const receiver = await startAnyReceiver();
    const args = ["webhooks", "check", receiver.url, "--secret", SECRET];
    const { stderr } = await runCli([...args, "--scheme", "github", "--type", "ping", "--set", "zen=Simple."]);
    expect(stderr).toMatch(/^Sending a sample of GitHub: ping\. /);
    const [request] = receiver.requests;
    expect(request!.headers["x-github-event"]).toBe("ping");
    expect(JSON.parse(request!.body.toString())).toMatchObject({ zen: "Simple." });
    expect(await runCli([...args, "--set", "a=1"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--set needs --payload"),
    });
  });

  it("reports before the check that the folder of --junit does not exist", async () => {
    const args = ["webhooks", "check", "localhost:1", "--secret", SECRET, "--junit", "none/a.xml"];
    const { exitCode, stderr } = await runCli(args, { cwd: createConfigDir() });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: "Error: --junit: the folder of none/a.xml does not exist\n",
    });
  });

  it("mentions that service.yaml, which defines other schemes, is missing", async () => {
    const args = ["webhooks", "check", "localhost:1", "--secret", SECRET, "--scheme", "foo"];
    expect((await runCli(args, { cwd: createConfigDir() })).stderr).toContain(
      "There is no service.yaml in this folder.",
    );
  });
});

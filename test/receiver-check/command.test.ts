import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import stringWidth from "string-width";
import { afterAll, describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { freePort } from "../support/free-port.ts";
import { BIN, cliEnv, createConfigDir, interruption, runCli } from "../support/run-cli.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { type Application, startApplication, type Work } from "./support/application.ts";
import { receiverWith, VERIFIERS } from "./support/provider-receivers.ts";
import { type Flaw, handWritten } from "./support/hand-written-receiver.ts";

const SECRET = `whsec_${"c".repeat(43)}`;
const KNOWN = { SERVICE_WEBHOOK_SECRET: SECRET };

const started: Application[] = [];
afterAll(() => {
  for (const application of started) application.close();
});

async function start(flaw?: Flaw, onAct?: (id: string) => void): Promise<Application> {
  const application = await startApplication((work) => handWritten(work, [SECRET], flaw), onAct);
  started.push(application);
  return application;
}

async function reportOf(args: readonly string[], env: Record<string, string> = KNOWN): Promise<ReceiverReport> {
  const { stdout } = await runCli(["webhooks", "check", "--json", ...args], { env });
  return JSON.parse(stdout) as ReceiverReport;
}

const statusOf = ({ checks }: ReceiverReport, id: string): string => checks.find((check) => check.id === id)!.status;

// Most of them only wait.
describe.concurrent("service webhooks check", () => {
  it("reports a probe that returns no number, or counts nothing", async () => {
    const { webhooks } = await start();
    const broken = await runCli(["webhooks", "check", webhooks, "--probe", webhooks], { env: KNOWN });
    expect(broken).toMatchObject({ exitCode: 1, stdout: "" });
    expect(broken.stderr).toMatch(/^Error: --probe: the probe at \S+ gave no count \(400/);
    const { count } = await start();
    const blind = await reportOf([webhooks, "--probe", count]);
    expect(blind.passed).toBe(true);
    expect(statusOf(blind, "duplicate-at-once")).toBe("skipped");
    expect(blind.checks.find(({ id }) => id === "duplicate-in-turn")).toMatchObject({
      status: "skipped",
      seen: expect.stringMatching(/counted nothing within .* choose another one with --type$/),
    });
  });

  it.each([
    ["names the event", "right", (url: string, id: string) => `${url}/${id}`],
    ["names none", "right", (url: string) => url],
    ["names the event", "wrong", (url: string, id: string) => `${url}/${id}`],
  ] as const)("sees from a sink call that %s whether dedupe is %s", async (_name, dedupe, address) => {
    const sink = `127.0.0.1:${await freePort()}`;
    const calls: Promise<unknown>[] = [];
    const { webhooks } = await start(dedupe === "right" ? undefined : "has no dedupe", (id) => {
      // The sink closes with the check, while the receiver still handles the burst.
      calls.push(fetch(address(`http://${sink}`, id), { method: "POST" }).catch(() => {}));
    });
    const report = await reportOf([webhooks, "--effects", "--sink", sink]);
    await Promise.all(calls);
    const expected = dedupe === "right" ? "passed" : "failed";
    expect(statusOf(report, "duplicate-in-turn")).toBe(expected);
    expect(statusOf(report, "duplicate-at-once")).toBe(expected);
  });

  it("prints a secret if none is given, and waits until the receiver uses it", async () => {
    let secret = "";
    const application = await startApplication((work: Work) => (request, response) => {
      handWritten(work, [secret])(request, response);
    });
    started.push(application);
    const child = spawn(process.execPath, [BIN, "webhooks", "check", application.webhooks, "--json", "--wait", "1m"], {
      env: cliEnv(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    createInterface(child.stderr).on("line", (line) => {
      secret = (JSON.parse(line) as { secret?: string }).secret ?? secret;
    });
    const exitCode = await new Promise((resolve) => child.on("close", resolve));
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(exitCode).toBe(0);
    expect(statusOf(JSON.parse(stdout) as ReceiverReport, "wrong-secret")).toBe("passed");
  });

  it("shows each new rejection while it waits for the receiver to use the secret", async () => {
    let requests = 0;
    const application = await startApplication(() => (_request, response) => {
      requests += 1;
      response.writeHead(requests < 3 ? 400 : 401).end(requests < 3 ? "no signature" : "bad signature");
    });
    started.push(application);
    const controller = new AbortController();
    const { stderr } = await runCli(["webhooks", "check", application.webhooks, "--wait", "1h"], {
      signal: controller.signal,
      onStderr: (text) => {
        if (text.includes("bad signature")) controller.abort(interruption());
      },
    });
    const waiting = stderr.split("\n").filter((line) => line.startsWith("Waiting: "));
    expect(waiting).toEqual([
      expect.stringMatching(/400 in .*: no signature$/),
      expect.stringMatching(/401 in .*: bad signature$/),
    ]);
  });

  it("does not count a sink call with the UUID of another delivery", async () => {
    const sink = `127.0.0.1:${await freePort()}`;
    const calls: Promise<unknown>[] = [];
    const application = await startApplication(
      receiverWith(VERIFIERS.github, "secret"),
      () => void calls.push(fetch(`http://${sink}/${randomUUID()}`, { method: "POST" }).catch(() => {})),
    );
    started.push(application);
    const args = ["--scheme", "github", "--secret", "secret", "--effects", "--sink", sink];
    const report = await reportOf([application.webhooks, ...args], {});
    await Promise.all(calls);
    expect(report.checks.find(({ id }) => id === "duplicate-in-turn")).toMatchObject({
      status: "skipped",
      seen: expect.stringMatching(/counted nothing within .* must call the sink once for each processed event/),
    });
  });

  it.each([
    [["--scheme", "stripe"], /^Error: --type: "push" is not a sample of Stripe\nSamples: payment_intent\.succeeded, /],
    [["--payload", BIN], /^Error: --type cannot be combined with --payload/],
  ])("rejects --type push with %s", async (flags, message) => {
    for (const name of ["--type", "--event"]) {
      const args = ["webhooks", "check", "localhost:1", ...flags, name, "push"];
      const { exitCode, stderr } = await runCli(args, { env: KNOWN });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(message);
    }
  });

  it("exits with 1 if its output is closed before it has passed", async () => {
    const { webhooks } = await start();
    const child = spawn(process.execPath, [BIN, "webhooks", "check", webhooks], {
      env: cliEnv(KNOWN),
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(1);
  });

  it("exits with 2 if the payload file does not exist", async () => {
    const args = ["webhooks", "check", "1", "--scheme", "stripe", "--payload", "missing.json"];
    expect(await runCli(args, { env: KNOWN })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--payload: missing.json does not exist"),
    });
  });

  it("exits with one error if the receiver is unreachable", async () => {
    const port = await freePort();
    const text = await runCli(["webhooks", "check", String(port)], { env: KNOWN });
    const why = `Cannot check the receiver: connection refused: nothing listens on localhost:${port}`;
    expect(text).toMatchObject({
      exitCode: 7,
      stdout: "",
      stderr: `Error: ${why}\nStart the receiver, and check the port.\n`,
    });
    const json = await runCli(["webhooks", "check", String(port), "--json"], { env: KNOWN });
    expect(json).toMatchObject({ exitCode: 7, stdout: "" });
    expect(JSON.parse(json.stderr)).toMatchObject({ code: "receiver_unreachable", detail: why, exit_code: 7 });
  });

  it("does not wait for the secret if the receiver is unreachable", async () => {
    const { exitCode, stderr } = await runCli(["webhooks", "check", String(await freePort()), "--wait", "1s"], {});
    expect(exitCode).toBe(7);
    expect(stderr).toContain("Error: Cannot check the receiver: connection refused");
  });

  it("explains how to check a receiver with its own secret, and warns not to change a real endpoint's secret", async () => {
    const { stderr, stdout } = await runCli(["webhooks", "check", String(await freePort()), "--wait", "1s"], {});
    expect(stderr.replaceAll("\n", " ")).toMatch(
      /If your receiver already has one, .* --secret-file or SERVICE_WEBHOOK_SECRET.*Do not change the secret of a real endpoint/,
    );
    expect(stderr).not.toContain("Set this signing secret");
    expect(stdout).toBe("");
    const application = await startApplication(() => (_request, response) => response.writeHead(400).end());
    started.push(application);
    const { stdout: rejected } = await runCli(["webhooks", "check", application.webhooks, "--wait", "1s"], {});
    expect(rejected.split("\n")[0]).toContain("Pass the secret that the receiver has");
  });

  it("does not accept rejections as proof if everything is rejected", async () => {
    const { webhooks } = await start();
    const report = await reportOf([webhooks], { SERVICE_WEBHOOK_SECRET: "whsec_another" });
    expect(report).toMatchObject({ grade: "F", counts: { passed: 1, failed: 1 } });
    expect(statusOf(report, "wrong-secret")).toBe("skipped");
  });

  it("fails every rejection check of a receiver that accepts everything", async () => {
    const { webhooks } = await start("takes everything");
    const report = await reportOf([webhooks]);
    expect(report.grade).toBe("F");
    for (const { group, status } of report.checks) if (group === "Rejecting") expect(status).toBe("failed");
  });

  it("reports the check that crashed a receiver", async () => {
    const application = await startApplication((work) => {
      const receive = handWritten(work, [SECRET]);
      return (request, response) => {
        if (request.headers["service-signature"] !== undefined || request.url !== "/webhooks") {
          return receive(request, response);
        }
        request.socket.destroy();
        application.close();
      };
    });
    const report = await reportOf([application.webhooks]);
    expect(statusOf(report, "no-signature")).toBe("failed");
    expect(report.checks.find(({ id }) => id === "two-signatures-own-first")).toMatchObject({
      status: "skipped",
      seen: expect.stringContaining("has not responded since"),
    });
  });

  it("follows no redirect", async () => {
    const application = await startApplication(() => (_request, response) => {
      response.writeHead(302, { location: "/sign-in" }).end();
    });
    started.push(application);
    expect((await reportOf([application.webhooks])).checks[0]).toMatchObject({
      status: "failed",
      seen: expect.stringMatching(/^302 in .*, a redirect to \/sign-in$/),
      fix: "Pass the final URL: redirects are not followed.",
    });
  });

  it.each([
    [["localhost:3000", "--probe", "localhost:1", "--effects"], "--probe cannot be combined with --effects"],
    [["localhost:3000", "--event", "order.complete"], "Did you mean order.completed"],
    [["ftp://localhost"], 'url: cannot forward to "ftp://localhost"'],
    [["localhost:3000", "--sink", "somewhere"], "must be a port, or an address"],
    [["localhost:3000", "--secret", "a", "--secret", "b", "--secret", "c"], "Too many secrets"],
  ])("rejects %j", async (args, message) => {
    expect(await runCli(["webhooks", "check", ...args], { env: KNOWN })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });

  it("reports that the sink's address is in use, or the JUnit file cannot be written", async () => {
    const { webhooks } = await start();
    const blocker = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => blocker.once("listening", resolve));
    const { port } = blocker.address() as { port: number };
    const args = ["webhooks", "check", webhooks, "--effects", "--sink", String(port)];
    expect((await runCli(args, { env: KNOWN })).stderr).toContain("--effects: cannot listen on");
    blocker.close();
    const file = join(createConfigDir(), "missing", "x.xml");
    expect(await runCli(["webhooks", "check", webhooks, "--junit", file], { env: KNOWN })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--junit: "),
    });
    expect(existsSync(file)).toBe(false);
  });
});

// Each delivery of a burst of 100 must get a response within 10 s, so nothing else runs in parallel.
describe("the whole report of service webhooks check", () => {
  it("is not blocked by a receiver that does not respond to a rejected delivery", async () => {
    const { webhooks } = await start("never responds to a rejected delivery");
    const report = await reportOf([webhooks]);
    expect(report.checks.find(({ id }) => id === "wrong-secret")).toMatchObject({
      status: "failed",
      seen: expect.stringMatching(/^no complete response within \d+ s$/),
      fix: expect.stringContaining("Respond with 400"),
    });
    expect(statusOf(report, "burst-of-100")).toBe("passed");
  });

  it("skips checks whose result it cannot see", async () => {
    const { webhooks } = await start("has no dedupe");
    const report = await reportOf([webhooks]);
    expect(report).toMatchObject({
      passed: true,
      grade: "B",
      verdict: "No mistake was found. For an A, 2 more checks must run: each says what it needs.",
    });
    expect([statusOf(report, "duplicate-in-turn"), statusOf(report, "duplicate-at-once")]).toEqual([
      "skipped",
      "skipped",
    ]);
  });

  it("accepts an untrusted certificate with --skip-verify, and suggests it otherwise", async () => {
    const listener = handWritten({ acted: [], act: () => {}, once: () => {} }, [SECRET]);
    const server = createSecureServer(SELF_SIGNED, listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { stderr } = await runCli(["webhooks", "check", url], { env: KNOWN });
    expect(stderr).toContain("the certificate is self-signed (--skip-verify accepts it)");
    expect(await reportOf([url, "--skip-verify"])).toMatchObject({ passed: true, grade: "B" });
    server.close();
  });

  it("writes JUnit XML", async () => {
    const file = join(createConfigDir(), "webhooks.xml");
    const { webhooks } = await start("reads the first v1 only");
    const { exitCode } = await runCli(["webhooks", "check", webhooks, "--junit", file], { env: KNOWN });
    expect(exitCode).toBe(1);
    const xml = readFileSync(file, "utf8");
    expect(xml).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites tests="27" failures="1" errors="0" skipped="3"/,
    );
    expect(xml.match(/<testcase /g)).toHaveLength(27);
    expect(xml).toMatch(/name="Accepts two signatures \(v1\), its own second"[^>]*>\s*<failure message="400 in /);
    expect(xml).toContain("Rule: docs/receiving-webhooks.md#verify-signatures</failure>");
    expect(xml).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/);
  });

  it("prints one line per check in a pipe, with explanation and fix", async () => {
    const { webhooks } = await start("reads the first v1 only");
    const { stdout, stderr } = await runCli(["webhooks", "check", webhooks], { env: KNOWN });
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(stderr).toBe("");
    expect(rows[0]).toEqual(["CHECK", "passed", "required", "valid-delivery", expect.stringMatching(/^200 in /)]);
    expect(rows.find(([, status]) => status === "failed")).toHaveLength(7);
    expect(rows.at(-1)).toEqual(["GRADE", "C", "23 passed, 1 failed, 3 skipped", "1 required check failed."]);
    expect((await runCli(["webhooks", "check", webhooks, "-q"], { env: KNOWN })).stdout).toBe(
      "two-signatures-own-second\n",
    );
  });
});

describe("service webhooks check on a terminal", () => {
  it.each([60, 100, 200])("fits %i columns, below a progress bar that is removed", async (columns) => {
    const { webhooks } = await start("reads the first v1 only");
    const session = runInTerminal(["webhooks", "check", webhooks], { env: KNOWN, columns });
    expect(await session.ended).toBe(1);
    const report = session.text().slice(session.text().lastIndexOf("Receiver  "));
    for (const line of report.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    await session.waitFor("/27 checks");
    expect(report).toMatch(/✗ Accepts two signatures \(v1\), its own second\n {6}Sent {2}A delivery signed/);
    expect(report).toMatch(/Grade C {2}23 passed, 1 failed, 3 skipped/);
  });

  it("prints a fix once if several checks have it", async () => {
    const { webhooks } = await start("takes everything");
    const session = runInTerminal(["webhooks", "check", webhooks], { env: KNOWN, columns: 80 });
    expect(await session.ended).toBe(1);
    const report = session.text().slice(session.text().lastIndexOf("Receiver  "));
    expect(report.match(/Verify the signature first/g)).toHaveLength(1);
    expect(report.match(/Fix {3}As above/g)!.length).toBeGreaterThan(5);
    expect(report).toMatch(/Grade F .*\nThe receiver responds with 2xx to signatures made with any secret\./);
  });

  it("prints an obstacle once instead of for each check", async () => {
    const application = await startApplication(() => (_request, response) => response.writeHead(500).end());
    started.push(application);
    const session = runInTerminal(["webhooks", "check", application.webhooks], { env: KNOWN });
    expect(await session.ended).toBe(1);
    const report = session.text().slice(session.text().lastIndexOf("Receiver  "));
    expect(report).toMatch(/✗ Accepts a valid delivery\n {6}Sent {2}A valid delivery\n {6}Seen {2}500 in/);
    expect(report).toContain("\n25 more: Skipped: the receiver did not accept a valid delivery\n");
    expect(report.split("\n").length).toBeLessThan(20);
  });

  it("exits immediately at Ctrl-C", async () => {
    const session = runInTerminal(["webhooks", "check", String(await freePort()), "--wait", "1h"], { env: KNOWN });
    await session.waitFor("0/27 checks");
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
  });
});

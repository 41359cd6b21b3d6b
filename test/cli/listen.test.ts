import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";
import { spawnListener, startListener } from "../support/listener.ts";
import { servePlatformOn } from "../support/platform.ts";
import { spawnCommand } from "../support/running-command.ts";
import { runCli } from "../support/run-cli.ts";
import { startReceiver } from "../relay/support/receivers.ts";
import { listening, createFolder } from "./support/listening.ts";

const on = listening();
const { service, trigger } = on;

describe("the delivery of a listener", () => {
  it("has the time at which its attempt started, and no signature that could be verified", async () => {
    let arrived = Infinity;
    const receiver = createServer((_request, response) => {
      arrived = Date.now();
      setTimeout(() => response.end(), 2_000).unref();
    });
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;
    const listener = await startListener(on.platform.env, ["--forward-to", `127.0.0.1:${port}`]);
    const [id = ""] = await trigger("customer.created");
    const list = () => on.json<{ id: string; last_attempt_at: string }[]>("deliveries", "list", "--event", id);
    await expect.poll(async () => (await list()).length).toBe(1);
    const [delivery] = await list();
    // Its end, in whole seconds, would be more than a second after the arrival.
    expect(Date.parse(delivery!.last_attempt_at) - arrived).toBeLessThan(1_000);
    const { stderr } = await service(["webhooks", "verify", "--delivery", delivery!.id, "--secret", on.secret]);
    expect(stderr).toContain("was sent by a listener, whose signatures are not stored");
    expect(stderr).toContain("service listen --print-secret");
    await listener.interrupt();
    receiver.close();
  });
});

describe("the output of service listen", () => {
  it("names its conditions, and once the command that explains a failure", async () => {
    const to = `127.0.0.1:${await freePort()}`;
    const args = [
      "listen",
      "--forward-to",
      to,
      "--retries",
      "0",
      "--where",
      "type=customer.created",
      "--where",
      "id!=x",
    ];
    const listener = spawnCommand(args, { env: on.platform.env });
    await expect.poll(() => listener.output()).toMatch(/^ {2}where +type=customer\.created and id!=x$/m);
    const [id] = await trigger("customer.created");
    await expect.poll(() => listener.output()).toMatch(/to explain it: .*\n/);
    await trigger("customer.created");
    await expect.poll(() => listener.stdout().match(/\tconnection_refused\t/g)?.length).toBe(2);
    await listener.interrupt();
    expect(listener.output().match(/to explain it: .*/g)).toEqual([`to explain it: service why ${id}`]);
  });

  it("prints a line with tabs for each event and attempt in a pipe, and the rest on stderr without the secret", async () => {
    const broken = await startReceiver((response) => response.writeHead(500).end("<html><title>Boom</title></html>"));
    const listener = spawnCommand(["listen", "--forward-to", broken.url.href, "--retries", "1"], {
      env: on.platform.env,
    });
    await expect.poll(() => listener.stderr()).toContain("Press Ctrl-C to stop");
    const [id] = await trigger("customer.created");
    await expect.poll(() => listener.lines.length).toBe(3);
    await listener.interrupt();
    expect(listener.lines.map((line) => line.replace(/^\S+Z\t/, "").replace(/\t\d+\t/, "\tN\t"))).toEqual([
      `received\tcustomer.created\t${id}\t\t\t`,
      `500\tcustomer.created\t${id}\tN\tretrying\tBoom`,
      `500\tcustomer.created\t${id}\tN\tattempt 2, gave up\tBoom`,
    ]);
    expect(listener.stderr()).toMatch(
      /Ready\.[^]*secret +to print it: service listen --print-secret\n[^]*Summary {2}1 received/,
    );
    expect(listener.output()).not.toContain("whsec_");
  });

  it("names what a key lacks that may not listen", async () => {
    const { key } = await on.json<{ key: string }>("keys", "create", "--scope", "orders:read");
    const { exitCode, stdout, stderr } = await service(["listen"], { env: { SERVICE_API_KEY: key } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: "" });
    expect(stderr).toMatch(
      /\n {2}403 insufficient_scope, request req_\w+\nUse a key with that scope\. .*service whoami\n$/,
    );
  });
});

describe("flags of service listen", () => {
  it.each([
    [["--route", "order=3000"], /unknown event type "order"/],
    [["--route", "order.*"], /is not in the form events=target/],
    [["--route", "order.*=ftp://x"], /--route: cannot forward to "ftp:\/\/x"/],
    [["--chaos", "noise=1"], /--chaos: unknown fault "noise"/],
    [["--chaos", "reorder=1", "--ordered"], /cannot be combined with/],
    [["--since", "yesterday"], /now, last, an age/],
    [["--max-downtime", "0s"], /at least 1 s/],
    [["--retries", "-1"], /at least 0/],
  ])("%j exit with 2", async (args, reason) => {
    const { exitCode, stderr } = await service(["listen", ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(reason);
  });

  it("exits with 7 immediately if no platform responds, before a command starts", async () => {
    const env = { ...on.platform.env, SERVICE_BASE_URL: `http://127.0.0.1:${await freePort()}` };
    const { exitCode, stdout, stderr } = await runCli(["listen", "--", "echo", "ran"], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "" });
    expect(stderr).toContain(
      `Start the platform with \`service serve --port ${new URL(env.SERVICE_BASE_URL).port}\`, or pass --wait.`,
    );
    expect(stderr).not.toContain("lost");
    const waited = await runCli(["listen", "--wait", "1s"], { env });
    expect(waited.stderr.match(/waiting for the platform: /g)).toHaveLength(1);
    expect(waited.stderr).not.toMatch(/lost|Summary/);
    expect([waited.exitCode, waited.stdout, waited.stderr]).toEqual([
      7,
      "",
      expect.stringMatching(/Start the platform with `service serve --port \d+`\.\n$/),
    ]);
  });

  it("exits with 7 if a web page responds", async () => {
    const server = createServer((_request, response) => response.end("<!doctype html><title>Shop</title>"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const env = { ...on.platform.env, SERVICE_BASE_URL: `http://127.0.0.1:${port}` };
    expect((await runCli(["listen"], { env })).exitCode).toBe(7);
    server.close();
  });

  it("waits with --wait for a platform that starts later", async () => {
    const port = await freePort();
    const database = join(createFolder(), "platform.db");
    const first = await servePlatformOn(database, port);
    await first.stop();
    const starting = startListener({ ...first.env, SERVICE_BASE_URL: first.baseUrl }, ["--wait"]);
    const platform = await servePlatformOn(database, port);
    const listener = await starting;
    expect(await listener.interrupt()).toBe(0);
    await platform.stop();
  });

  it("exits with 7 after --max-downtime without a platform", async () => {
    const env = { ...on.platform.env, SERVICE_BASE_URL: `http://127.0.0.1:${await freePort()}` };
    const { exitCode, stderr } = await runCli(["listen", "--max-downtime", "1s"], { env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("No connection to the platform for 1 s");
  });

  it("removes the ready file of an earlier run and its own with --ready-file", async () => {
    const file = join(createFolder(), "ready.json");
    writeFileSync(file, "stale");
    const check = `process.exit(JSON.parse(require("node:fs").readFileSync(${JSON.stringify(file)})).secret === "${on.secret}" ? 0 : 1)`;
    const { exitCode } = await service(["listen", "--ready-file", file, "--", process.execPath, "-e", check]);
    expect(exitCode).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it("delivers everything to each of several listeners, and tells each about the others", async () => {
    const one = await startListener(on.platform.env, ["--events", "order.created"]);
    const two = await startListener(on.platform.env, ["--events", "order.created"]);
    expect(two.records[0]).toMatchObject({ event: "ready", others: 1 });
    const [id] = await trigger("order.created");
    for (const listener of [one, two]) {
      await listener.record((record) => record.event === "received" && record["id"] === id);
      await listener.interrupt();
    }
  });

  it("reports other listeners that connect or disconnect later", async () => {
    const one = await startListener(on.platform.env, []);
    const two = await startListener(on.platform.env, []);
    expect(await one.record(({ event }) => event === "joined")).toMatchObject({ others: 1 });
    await two.interrupt();
    expect(await one.record(({ event }) => event === "left")).toMatchObject({ others: 0 });
    await one.interrupt();
    expect(two.records.map(({ event }) => event)).toEqual(["ready", "summary"]);
  });

  it("signs with the application's own secret, from a file or the environment", async () => {
    const own = `whsec_${Buffer.from("the secret of the application").toString("base64")}`;
    const file = join(createFolder(), "secret.txt");
    writeFileSync(file, `${own}\n`);
    const fromFile = await startListener(on.platform.env, ["--secret-file", file]);
    expect(fromFile).toMatchObject({ secret: own });
    await fromFile.interrupt();
    expect(fromFile.stderr()).not.toContain("visible");
    const fromEnv = await startListener({ ...on.platform.env, SERVICE_WEBHOOK_SECRET: own }, []);
    expect(fromEnv).toMatchObject({ secret: own });
    await fromEnv.interrupt();
    const visible = await startListener(on.platform.env, ["--secret", own]);
    expect(visible).toMatchObject({ secret: own });
    await visible.interrupt();
    expect(visible.stderr()).toContain("--secret is visible in the process list");
  });

  it.each([
    [["--secret-file", "two.txt"], "--secret-file: two.txt contains several secrets; pass one"],
    [["--secret-file", "missing.txt"], "--secret-file: missing.txt does not exist"],
    [["--secret", "a", "--secret-file", "two.txt"], "--secret cannot be combined with --secret-file"],
  ])("rejects %j", async (args, reason) => {
    const folder = createFolder();
    writeFileSync(join(folder, "two.txt"), "a\nb\n");
    const { exitCode, stderr } = await service(["listen", ...args], { cwd: folder });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(reason) });
  });

  it("prints the seed that repeats a --chaos run, and how the receiver behaved", async () => {
    const args = ["--forward-to", on.receiver.url, "--chaos", "badsig=1,duplicate=1", "--events", "payment.created"];
    const listener = await startListener(on.platform.env, args);
    const [ready] = listener.records;
    expect(ready!["chaos"]).toMatch(/^duplicate=1,badsig=1,seed=\d+$/);
    const [id] = await trigger("payment.created");
    const ends = (copy?: string) => (record: { event: string } & Record<string, unknown>) =>
      record.event === "forwarded" && record["id"] === id && record["copy"] === copy;
    await Promise.all([listener.record(ends()), listener.record(ends("badsig")), listener.record(ends("duplicate"))]);
    await listener.interrupt();
    const summary = listener.records.at(-1)!;
    expect(summary["chaos"]).toMatchObject({
      faults: { duplicate: { sent: 1, accepted: 1 }, badsig: { sent: 1, refused: 1, right: 1 } },
    });
    on.receiver.rejections.length = 0;
  });

  it("accepts a response that arrived in time while the process was suspended", async () => {
    let respond = (): unknown => undefined;
    const receiver = await startReceiver((response) => (respond = () => response.end("ok")));
    const args = ["--forward-to", receiver.url.href, "--events", "order.canceled", "--timeout", "1s", "--retries", "0"];
    const listener = await spawnListener(on.platform.env, args);
    const [id] = await trigger("order.canceled");
    await receiver.received(1);
    const received = performance.now();
    process.kill(listener.pid, "SIGSTOP");
    respond();
    // At least a second after the timeout.
    await expect.poll(() => performance.now() - received).toBeGreaterThan(2500);
    process.kill(listener.pid, "SIGCONT");
    const forwarded = await listener.record((record) => record.event === "forwarded" && record["id"] === id);
    expect(forwarded).toMatchObject({ status: 200 });
    expect(await listener.interrupt()).toBe(0);
  });

  it("suggests an open port nearby if nothing listens on the target", async () => {
    const { target, neighbor } = await closedPortNextToOpenOne();
    const args = ["--forward-to", String(target), "--retries", "0"];
    const listener = await startListener(on.platform.env, args);
    await trigger("customer.deleted");
    const hint = await listener.record(
      ({ event, message }) => event === "hint" && String(message).includes("If it is your application, forward to "),
    );
    expect(hint["message"]).toContain(String(neighbor));
    await listener.interrupt();
  });
});

/** Another test may use the next port. */
async function closedPortNextToOpenOne(): Promise<{ target: number; neighbor: number }> {
  for (;;) {
    const target = await freePort();
    const server = createServer().listen(target + 1, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    onTestFinished(() => void server.close());
    return { target, neighbor: target + 1 };
  }
}

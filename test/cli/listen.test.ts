import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startListener } from "../support/listener.ts";
import { type RunningPlatform, startPlatform, startPlatformOn } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { makeConfigDir, runCli } from "../support/run-cli.ts";

let platform: RunningPlatform;
let receiver: Receiver;
let secret = "";
beforeAll(async () => {
  [platform, receiver] = await Promise.all([startPlatform(), startReceiver(() => secret)]);
  secret = (await service("listen", "--print-secret")).stdout.trim();
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
});

const folder = () => mkdtempSync(join(tmpdir(), "service-listen-"));
const service = (...args: string[]) => runCli(args, { env: platform.env });

/** Makes events; gives their ids. */
async function trigger(type: string, count = 1, env = platform.env): Promise<string[]> {
  const { stdout, exitCode, stderr } = await runCli(["trigger", type, "--count", String(count), "-q"], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.trimEnd().split("\n");
}

const got = (ids: readonly string[]) => receiver.until(() => ids.every((id) => receiver.ids().has(id)));

describe("--since last", () => {
  it("goes on where the same listener ended, over a restart of the platform", async () => {
    const database = join(folder(), "platform.db");
    const first = await startPlatformOn(database, 0);
    const { port } = new URL(first.baseUrl);
    const env = { ...first.env };
    const args = ["--forward-to", receiver.url, "--events", "customer.created", "--since", "last", "--secret", secret];
    const listener = await startListener(env, args);
    const handled = await trigger("customer.created", 5, env);
    await got(handled);
    await listener.interrupt();
    const missed = await trigger("customer.created", 3, env);
    await first.stop();
    const second = await startPlatformOn(database, Number(port));
    const again = await startListener(env, args);
    await got(missed);
    await again.interrupt();
    const received = again.records.filter(({ event }) => event === "received").map(({ id }) => String(id));
    expect(received.sort()).toEqual(missed.sort());
    await second.stop();
  });

  it("keeps the position of each listener apart, for its owner alone", async () => {
    const env = { ...platform.env, SERVICE_CONFIG_DIR: makeConfigDir() };
    for (const events of ["customer.created", "customer.deleted"]) {
      const listener = await startListener(env, ["--events", events]);
      await listener.interrupt();
    }
    const kept = join(env.SERVICE_CONFIG_DIR, "listen");
    const names = readdirSync(kept);
    expect(names).toHaveLength(2);
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    for (const name of names) {
      expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(readFileSync(join(kept, name), "utf8"))).toMatchObject({
        cursor: expect.stringMatching(/^evt_/),
      });
      expect(readFileSync(join(kept, name), "utf8")).not.toContain(platform.sandboxKey);
    }
  });

  it("starts now where there is nothing to go on from, and says so", async () => {
    const { stderr, exitCode } = await runCli(["listen", "--since", "last", "--", "true"], { env: platform.env });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("has not run before");
  });
});

describe("a command behind --", () => {
  it("runs once events flow, with the secret, and its exit code is ours", async () => {
    const script = "console.log(process.env.SERVICE_WEBHOOK_SECRET); process.exit(7)";
    const args = ["listen", "--forward-to", receiver.url, "--", process.execPath, "-e", script];
    const { exitCode, stdout, stderr } = await service(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: `${secret}\n` });
    expect(stderr).toContain("Ready.");
    expect(stderr).toContain("Summary");
  });

  it("leaves stdout to --json", async () => {
    const args = ["listen", "--json", "--", process.execPath, "-e", "console.log('from the command')"];
    const { stdout, stderr } = await service(...args);
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string });
    expect(records.map(({ event }) => event)).toEqual(["ready", "summary"]);
    expect(stderr).toContain("from the command");
  });

  it("gets events while it runs", async () => {
    const script = `
      const http = require("node:http");
      http.createServer((q, r) => { r.end(); q.resume().on("end", () => process.exit(0)); }).listen(PORT);
      require("node:child_process").spawn(process.execPath, [BIN, "trigger", "order.created"], { stdio: "ignore" });`;
    const port = await freePort();
    const bin = JSON.stringify(process.cwd() + "/bin/service.js");
    const code = script.replace("PORT", String(port)).replace("BIN", bin);
    const args = ["listen", "--forward-to", String(port), "--", process.execPath, "-e", code];
    expect((await service(...args)).exitCode).toBe(0);
  });

  it("ends with 127 where there is none, and with 128 and the signal's number where one ended it", async () => {
    const missing = await service("listen", "--", "no-such-command-here");
    expect(missing.exitCode).toBe(127);
    expect(missing.stderr).toContain("no-such-command-here cannot be run: there is no such command");
    const killed = await service("listen", "--", process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')");
    expect(killed.exitCode).toBe(137);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("gets %s, and ends in its own time", async (signal) => {
    const ready = join(folder(), "ready");
    const script = `
      process.on("${signal}", () => { console.log("got ${signal}"); process.exit(3); });
      process.kill(process.ppid, "${signal}");
      setInterval(() => {}, 1000);`;
    const { exitCode, stdout } = await service("listen", "--ready-file", ready, "--", process.execPath, "-e", script);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: `got ${signal}\n` });
    expect(existsSync(ready)).toBe(false);
  });

  it("is ended when the platform refuses for good", async () => {
    const { stdout } = await service("keys", "create", "--name", "short", "--scope", "listen:read", "--json");
    const { id, key } = JSON.parse(stdout) as { id: string; key: string };
    const revoke = `${process.execPath} ${process.cwd()}/bin/service.js keys revoke ${id} --yes`;
    const env = { ...platform.env, SERVICE_API_KEY: key, OWNER_KEY: platform.sandboxKey };
    const script = `SERVICE_API_KEY=$OWNER_KEY ${revoke} >&2; exec sleep 60`;
    const { exitCode } = await runCli(["listen", "--", "sh", "-c", script], { env });
    expect(exitCode).toBe(4);
  });

  it("needs its --", async () => {
    const { exitCode, stderr } = await service("listen", "localhost:3000");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--forward-to localhost:3000");
  });
});

describe("--write-env", () => {
  const write = (file: string) => service("listen", "--write-env", file, "--", "true");

  it("makes a file for its owner alone, and names the variable as told", async () => {
    const file = join(folder(), ".env");
    expect((await write(file)).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(`SERVICE_WEBHOOK_SECRET=${secret}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await write(`${file}:MY_SECRET`);
    expect(readFileSync(file, "utf8")).toBe(`SERVICE_WEBHOOK_SECRET=${secret}\nMY_SECRET=${secret}\n`);
  });

  it.each([
    ["A=1\nSERVICE_WEBHOOK_SECRET=old # note\nB=2", (s: string) => `A=1\nSERVICE_WEBHOOK_SECRET=${s}\nB=2`],
    ["A=1", (s: string) => `A=1\nSERVICE_WEBHOOK_SECRET=${s}\n`],
    ["A=1\r\nexport SERVICE_WEBHOOK_SECRET=x\r\n", (s: string) => `A=1\r\nexport SERVICE_WEBHOOK_SECRET=${s}\r\n`],
    ["# SERVICE_WEBHOOK_SECRET=no\n", (s: string) => `# SERVICE_WEBHOOK_SECRET=no\nSERVICE_WEBHOOK_SECRET=${s}\n`],
    ["X_SERVICE_WEBHOOK_SECRET=1\n", (s: string) => `X_SERVICE_WEBHOOK_SECRET=1\nSERVICE_WEBHOOK_SECRET=${s}\n`],
  ])("changes one line of %j and keeps the rest, mode and link", async (before, after) => {
    const directory = folder();
    const file = join(directory, "real.env");
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    symlinkSync("real.env", join(directory, ".env"));
    expect((await write(join(directory, ".env"))).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(after(secret));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(directory).sort()).toEqual([".env", "real.env"]);
  });

  it("does not touch a file that says so already, and ends where it cannot write", async () => {
    const file = join(folder(), ".env");
    await write(file);
    const { ino } = statSync(file);
    await write(file);
    expect(statSync(file).ino).toBe(ino);
    const { exitCode, stderr } = await write(join(file, "below"));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("--write-env:");
  });
});

describe("--record and listen replay", () => {
  it("send the same bytes again, newly signed, without a platform where the secret is given", async () => {
    const file = join(folder(), "events.ndjson");
    const listener = await startListener(platform.env, ["--record", file, "--forward-to", receiver.url]);
    const ids = await trigger("customer.updated", 3);
    await got(ids);
    await listener.interrupt();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const recorded = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string });
    expect(recorded.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const before = receiver.events.length;
    const args = ["replay", file, "--forward-to", receiver.url, "--speed", "max", "--json", "--ordered"];
    const { exitCode, stdout } = await runCli(["listen", ...args, "--secret", secret]);
    expect(exitCode).toBe(0);
    expect(
      receiver.events
        .slice(before)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(recorded.map(({ id }) => id).sort());
    const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as object;
    expect(summary).toMatchObject({
      event: "summary",
      received: recorded.length,
      forwarded: recorded.length,
      failed: 0,
    });
    expect((await service("listen", ...args)).exitCode).toBe(0);
    expect(receiver.refusals).toEqual([]);
  });

  it("fail where the receiver does not take all of it", async () => {
    const file = join(folder(), "events.ndjson");
    writeFileSync(file, `${JSON.stringify({ time: "2026-11-21T00:00:00Z", id: "evt_1", type: "a.b", body: "{}" })}\n`);
    const args = ["listen", "replay", file, "--forward-to", receiver.url, "--retries", "0", "--secret", "whsec_wrong"];
    expect((await runCli(args)).exitCode).toBe(1);
    receiver.refusals.length = 0;
  });

  it.each([
    ["not JSON", "{", /line 1 is not JSON/],
    ["no event", '{"id":"evt_1"}', /line 1 is no recorded event/],
  ])("refuse a file with %s", async (_what, text, reason) => {
    const file = join(folder(), "events.ndjson");
    writeFileSync(file, text);
    const { exitCode, stderr } = await runCli(["listen", "replay", file, "-f", "1", "--secret", "whsec_x"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(reason);
  });

  it("say what is missing", async () => {
    const missing = await runCli(["listen", "replay", "/nowhere.ndjson", "-f", "1", "--secret", "whsec_x"]);
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("there is no such file") });
    const nowhere = await runCli(["listen", "replay", "x.ndjson", "--secret", "whsec_x"]);
    expect(nowhere).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--forward-to") });
  });
});

describe("flags", () => {
  it.each([
    [["--route", "order=3000"], /no event type "order"/],
    [["--route", "order.*"], /is not events=target/],
    [["--route", "order.*=ftp://x"], /--route: "ftp:/],
    [["--chaos", "noise=1"], /--chaos: "noise" is no fault/],
    [["--chaos", "reorder=1", "--ordered"], /contradict/],
    [["--since", "yesterday"], /now, last, an age/],
    [["--max-downtime", "0s"], /at least 1 s/],
    [["--retries", "-1"], /at least 0/],
  ])("%j are refused with 2", async (args, reason) => {
    const { exitCode, stderr } = await service("listen", ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(reason);
  });

  it("--max-downtime ends with 7 where no platform answers", async () => {
    const env = { ...platform.env, SERVICE_BASE_URL: `http://127.0.0.1:${await freePort()}` };
    const { exitCode, stderr } = await runCli(["listen", "--max-downtime", "1s"], { env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("no connection to the platform for 1 s");
  });

  it("--ready-file removes what an earlier run left, and what it wrote itself", async () => {
    const file = join(folder(), "ready.json");
    writeFileSync(file, "stale");
    const check = `process.exit(JSON.parse(require("node:fs").readFileSync(${JSON.stringify(file)})).secret === "${secret}" ? 0 : 1)`;
    const { exitCode } = await service("listen", "--ready-file", file, "--", process.execPath, "-e", check);
    expect(exitCode).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it("several listeners each get everything, and are told of the others", async () => {
    const one = await startListener(platform.env, ["--events", "order.created"]);
    const two = await startListener(platform.env, ["--events", "order.created"]);
    expect(two.records[0]).toMatchObject({ event: "ready", others: 1 });
    const [id] = await trigger("order.created");
    for (const listener of [one, two]) {
      await listener.record((record) => record.event === "received" && record["id"] === id);
      await listener.interrupt();
    }
  });

  it("--chaos prints a seed that repeats the run, and what the receiver did", async () => {
    const args = ["--forward-to", receiver.url, "--chaos", "badsig=1,duplicate=1", "--events", "payment.created"];
    const listener = await startListener(platform.env, args);
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
    receiver.refusals.length = 0;
  });

  it("names an open port nearby when nothing listens on the one that was given", async () => {
    const { port } = new URL(receiver.url);
    const args = ["--forward-to", String(Number(port) - 1), "--retries", "0"];
    const listener = await startListener(platform.env, args);
    await trigger("customer.deleted");
    const hint = await listener.record(({ event }) => event === "hint");
    expect(hint["message"]).toContain(port);
    await listener.interrupt();
  });
});

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

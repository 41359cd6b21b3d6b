import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { apiOf } from "../support/api.ts";
import { FakeClock } from "../relay/support/fake-clock.ts";
import { FakePlatform } from "../relay/support/fake-platform.ts";
import { startReceiver as startRelayReceiver } from "../relay/support/receivers.ts";
import { startRun } from "../relay/support/start-run.ts";
import { spawnListener } from "../support/listener.ts";
import { startPlatform } from "../testing/kit.ts";
import { startReceiver } from "../support/receiver.ts";

const EVENTS = 20;

it("listen without free file descriptors fails no forward, reports this once, and forwards once some are free", async () => {
  const platform = await startPlatform();
  onTestFinished(() => platform.close());
  let secret = "";
  const receiver = await startReceiver(() => secret);
  onTestFinished(() => receiver.close());
  const listener = await spawnListener(platform.env, ["--forward-to", receiver.url]);
  onTestFinished(() => listener.kill());
  secret = listener.secret;
  const of = (name: string) => listener.records.filter(({ event }) => event === name);

  const limitTo = (count: number) => execFileSync("prlimit", ["--pid", `${listener.pid}`, `--nofile=${count}:`]);
  // A lower limit than the number of open descriptors.
  limitTo(3);
  const api = apiOf(platform.baseUrl, platform.apiKey);
  for (let i = 0; i < EVENTS; i++) {
    expect((await api("POST", "/v1/events", { type: "order.completed", data: { id: `${i}` } })).status).toBe(201);
  }
  const hint = await listener.record(({ event }) => event === "hint");
  expect(hint).toMatchObject({ message: expect.stringContaining("ulimit -n"), url: receiver.url });
  await expect.poll(() => of("received")).toHaveLength(EVENTS);
  expect(of("forwarded")).toEqual([]);
  expect((await api("GET", "/v1/deliveries")).body.data).toEqual([]);

  limitTo(1000);
  await expect.poll(() => of("forwarded")).toHaveLength(EVENTS);
  const outcomes = of("forwarded").map(({ status, attempt }) => ({ status, attempt }));
  expect(outcomes).toEqual(Array.from({ length: EVENTS }, () => ({ status: 204, attempt: 1 })));
  expect(of("hint")).toHaveLength(1);
  expect(receiver.ids().size).toBe(EVENTS);
  await listener.interrupt();
  expect(of("summary")).toMatchObject([{ received: EVENTS, forwarded: EVENTS, failed: 0 }]);
});

it("listen exits when it is stopped without free file descriptors, and counts unsent events as failed", async () => {
  const platform = await startPlatform();
  onTestFinished(() => platform.close());
  const receiver = await startReceiver(() => "unused");
  onTestFinished(() => receiver.close());
  const listener = await spawnListener(platform.env, ["--forward-to", receiver.url]);
  onTestFinished(() => listener.kill());
  execFileSync("prlimit", ["--pid", `${listener.pid}`, "--nofile=3:"]);
  const api = apiOf(platform.baseUrl, platform.apiKey);
  expect((await api("POST", "/v1/events", { type: "order.completed", data: {} })).status).toBe(201);
  await listener.record(({ event }) => event === "hint");
  await listener.interrupt();
  const summaries = listener.records.filter(({ event }) => event === "summary");
  expect(summaries).toMatchObject([{ received: 1, forwarded: 0, failed: 1 }]);
});

it("listen keeps a resend that waits for a file descriptor through a reset of the sandbox, and does not count it as failed", async () => {
  const platform = await FakePlatform.start();
  const clock = new FakeClock();
  const receiver = await startRelayReceiver((response) => void response.setHeader("Connection", "close").end());
  const { run, reports } = startRun(platform, { target: receiver.url, clock });
  await reports.wait("ready");
  const event = platform.append();
  await reports.wait("forwarded");
  const limitTo = ownLimit();
  await limitTo("3");
  run.resend(event, 2);
  await reports.wait("hint");
  platform.reset();
  await reports.wait("reset");
  await limitTo("");
  clock.advance(500);
  expect(await reports.wait("forwarded", 2)).toMatchObject({ copy: "resent", status: 200 });
  await limitTo("3");
  run.resend(event, 3);
  await reports.wait("hint", 2);
  await limitTo("");
  expect((await run.stop()).summary).toMatchObject({ received: 1, forwarded: 1, failed: 0, unretried: 0 });
});

/** Returns what limits the file descriptors of this process, in which no other process can be started then; "" as before. */
function ownLimit(): (count: string) => Promise<unknown> {
  const script = "soft=$(ulimit -Sn); while read -r n; do prlimit --pid $PPID --nofile=${n:-$soft}: && echo; done";
  const shell = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => {
    shell.stdin.end("\n");
  });
  return (count) => {
    shell.stdin.write(`${count}\n`);
    return once(shell.stdout, "data");
  };
}

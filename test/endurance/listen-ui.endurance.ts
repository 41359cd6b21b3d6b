import { readFileSync } from "node:fs";
import { spawn } from "@lydell/node-pty";
import { expect, it, onTestFinished } from "vitest";
import { frameOf } from "../../src/cli/forwarding/ui/frame.ts";
import { Model } from "../../src/cli/forwarding/ui/model.ts";
import { PLAIN } from "../../src/cli/terminal/styles.ts";
import { figure } from "../platform/delivery/support/figures.ts";
import { startScriptedReceiver } from "../cli/support/scripted-receiver.ts";
import { FakePlatform } from "../relay/support/fake-platform.ts";
import { BIN, cliEnv } from "../support/run-cli.ts";

const EVENTS = 100_000;
const RATE = 500;
const MEMORY_MB = 150;
const FRAME_MS = 33;
const PATIENT = { timeout: 600_000, interval: 100 };

const bodyOf = (number: number): string =>
  JSON.stringify({ object: "event", number, data: { object: { name: "山田 太郎", filler: "x".repeat(900) } } });

const statOf = (pid: number): string[] => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
const processorMs = (pid: number): number => (Number(statOf(pid)[11]) + Number(statOf(pid)[12])) * 10;
const memoryMb = (pid: number, name: "VmHWM" | "VmRSS"): number => {
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((text) => text.startsWith(`${name}:`))!;
  return Math.round(Number(line.replaceAll(/\D/g, "")) / 1024);
};

it("service listen on a terminal shows 500 events a second within its memory limit", async () => {
  const platform = await FakePlatform.start();
  const receiver = await startScriptedReceiver({ status: 200, body: "ありがとう" });
  onTestFinished(() => receiver.close());
  const pty = spawn(process.execPath, [BIN, "listen", "--forward-to", receiver.url], {
    cols: 200,
    rows: 60,
    env: cliEnv({
      SERVICE_BASE_URL: platform.url.href,
      SERVICE_API_KEY: `sk_sandbox_${"a".repeat(49)}`,
      TERM: "xterm",
    }),
  });
  onTestFinished(() => pty.kill("SIGKILL"));
  let written = 0;
  let frames = 0;
  let last = "";
  pty.onData((data) => {
    written += data.length;
    frames += data.split("\u001b[?2026h").length - 1;
    last = (last + data).slice(-20_000);
  });
  await expect.poll(() => last, PATIENT).toContain("Connected");
  const before = processorMs(pty.pid);
  const startedAt = performance.now();
  for (let sent = 0; sent < EVENTS;) {
    const due = Math.min(EVENTS, Math.ceil(((performance.now() - startedAt) / 1000) * RATE));
    for (; sent < due; sent += 1) platform.append("order.completed", bodyOf(sent));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await platform.until(() => platform.acknowledgedIds.size === EVENTS);
  const seconds = (performance.now() - startedAt) / 1000;
  await expect.poll(() => last, PATIENT).toContain("100,000 forwarded");
  const share = (processorMs(pty.pid) - before) / seconds / 10;
  const megabytes = Math.round(written / 1e6);
  figure(
    `${EVENTS} events in ${Math.round(seconds)} s on 200×60: ${memoryMb(pty.pid, "VmRSS")} MB, at most ${memoryMb(pty.pid, "VmHWM")} MB, ${share.toFixed(1)} % of a core, ` +
      `${(frames / seconds).toFixed(1)} frames a second, ${megabytes} MB written`,
  );
  expect(last).toContain("last 1,000 kept");
  expect(memoryMb(pty.pid, "VmRSS")).toBeLessThanOrEqual(MEMORY_MB);
});

it("a frame with details, a filter and 1,000 rows is computed in time", () => {
  const url = new URL("http://localhost:3000/");
  let now = 0;
  const model = new Model(
    {
      state: "Connected",
      origin: "sandbox of acct_1",
      shortOrigin: "sandbox",
      receivers: { target: url, routes: [] },
      facts: [],
      example: { command: "", unmet: [] },
      filteredOut: () => 0,
      runnable: (text) => text,
      archive: "",
      platform: url,
      signs: true,
      keepsSignature: () => false,
      pause() {},
      resume() {},
      resend: () => undefined,
      assertEditable() {},
      edited: (event) => event,
      sign: (_event, headers) => headers,
    },
    { now: () => now, realNow: () => now, badge: undefined },
    { columns: 200, rows: 60 },
  );
  const times: number[] = [];
  for (let number = 0; number < EVENTS; number += 1) {
    now = number;
    const id = `evt_${String(number).padStart(22, "0")}`;
    const type = "order.completed";
    model.apply({ event: "received", id, type, body: bodyOf(number) }, number);
    const outcome = { durationMs: 1, url, headers: [], excerpt: "失敗しました 😀", status: 500, attempt: 1 };
    model.apply({ event: "forwarded", id, type, ...outcome }, number);
    if (number === 1_000) model.show("details");
    if (number === 2_000) model.setFilter("失敗 !nothing");
    if (number % 25 > 0) continue;
    if (number % 100 === 0 && number > 1_000) model.move(-1);
    const before = process.cpuUsage();
    frameOf(model, PLAIN);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => times[Math.floor((times.length - 1) * share)]!.toFixed(2);
  figure(
    `${times.length} frames of 200×60: median ${at(0.5)} ms, p99 ${at(0.99)} ms, maximum ${at(1)} ms of processor time`,
  );
  expect(Number(at(0.99))).toBeLessThanOrEqual(FRAME_MS);
});

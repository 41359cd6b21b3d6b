// Start-up: whole processes, interleaved, against an empty Node process. An earlier start has kept its compiled code.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { atMost } from "./goals.js";
import { api, BIN, median, startService, stop, temporaryFolder } from "./measure.js";

const ROUNDS = 15;

function time(args, env) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { env: { PATH: process.env.PATH, ...env } });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${String(stderr)}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

async function readyTime(env) {
  const start = process.hrtime.bigint();
  const service = await startService(["--ephemeral"], env);
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
  await stop(service);
  return milliseconds;
}

export async function benchStartup() {
  const service = await startService();
  const customer = await api(service)("POST", "/v1/customers", { email: "start@example.com" });
  const config = temporaryFolder();
  const login = spawnSync(process.execPath, [BIN, "login", "--api-key-stdin", "--base-url", service.ready.base_url], {
    input: service.ready.sandbox_key,
    env: { PATH: process.env.PATH, SERVICE_CONFIG_DIR: config },
  });
  if (login.status !== 0) throw new Error(String(login.stderr));

  const cases = [
    { name: "service --version", args: [BIN, "--version"], goal: atMost(1.1) },
    { name: "service --help", args: [BIN, "--help"], goal: atMost(1.4) },
    { name: "service customers list --help", args: [BIN, "customers", "list", "--help"], goal: atMost(1.45) },
    { name: "service customers get (stored profile)", args: [BIN, "customers", "get", customer.id], goal: atMost(2) },
  ];
  const bare = [];
  const times = cases.map(() => []);
  const home = temporaryFolder();
  mkdirSync(join(home, ".cache"));
  const env = { HOME: home, SERVICE_CONFIG_DIR: config };
  for (const { args } of cases) time(args, env);
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(time(["-e", "0"], env));
    for (const [i, { args }] of cases.entries()) times[i].push(time(args, env));
  }
  await stop(service);
  const rows = cases.map(({ name, goal }, i) => ({
    name: `Start-up: ${name}`,
    figure: `${median(times[i]).toFixed(0)} ms`,
    baseline: `${median(bare).toFixed(0)} ms for node -e 0`,
    ratio: median(times[i].map((value, round) => value / bare[round])),
    goal,
  }));

  await readyTime(env);
  const ready = [];
  for (let round = 0; round < 7; round++) ready.push(await readyTime(env));
  rows.push({
    name: "Start-up: service serve --ephemeral, ready",
    figure: `${median(ready).toFixed(0)} ms`,
    baseline: `${median(bare).toFixed(0)} ms for node -e 0`,
    ratio: median(ready) / median(bare),
    value: median(ready),
    goal: atMost(500, "ms"),
  });
  return rows;
}

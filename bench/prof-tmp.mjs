import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { api, BIN, startNode } from "./measure.js";
const prof = process.argv[2];
const args = prof === "platform" ? ["--cpu-prof", "--cpu-prof-dir=/tmp/nc/rp"] : [];
const child = spawn(
  process.execPath,
  [...args, BIN, "serve", "--json", "--ephemeral", "--port", "0", "--rate-limit", "0", "--log-level", "warn"],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const ready = JSON.parse((await once(createInterface(child.stdout), "line"))[0]);
const receiver = await startNode(["bench/receiver.js"], { input: "pipe" });
const call = api({ ready });
for (let i = 0; i < 100; i++)
  await Promise.all(
    Array.from({ length: 100 }, () =>
      call("POST", "/v1/events", { type: "order.completed", data: { id: "ord_1", filler: "x".repeat(1024 - 218) } }),
    ),
  );
const cpu = (pid) => {
  const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(f[11]) + Number(f[12])) * 10;
};
for (let round = 0; round < 4; round++) {
  const done = new Promise((r) => receiver.lines.once("line", (l) => r(JSON.parse(l))));
  receiver.child.stdin.write(JSON.stringify({ target: 10000 }) + "\n");
  const p0 = cpu(child.pid),
    r0 = cpu(receiver.child.pid);
  const lp = prof === "listen" ? ["--cpu-prof", "--cpu-prof-dir=/tmp/nc/rp"] : [];
  const listen = spawn(
    process.execPath,
    [...lp, BIN, "listen", "--forward-to", receiver.ready.url, "--since", "1d", "--concurrency", "32"],
    {
      stdio: "ignore",
      env: {
        SERVICE_BASE_URL: ready.base_url,
        SERVICE_API_KEY: ready.sandbox_key,
        SERVICE_CONFIG_DIR: "/tmp/nc/rp/cfg",
      },
    },
  );
  const { seconds } = await done;
  const l = cpu(listen.pid);
  console.log(
    `${Math.round(10000 / seconds)}/s platform ${(cpu(child.pid) - p0) / 10} us listen ${l / 10} us receiver ${(cpu(receiver.child.pid) - r0) / 10} us per event`,
  );
  const ended = once(listen, "exit");
  listen.kill("SIGINT");
  await ended;
}
const ended = once(child, "exit");
child.kill("SIGTERM");
await ended;
receiver.child.kill();
process.exit(0);

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { freePort } from "../support/free-port.ts";
import { cliEnv, runCli } from "../support/run-cli.ts";
import { makeApplicationFolder } from "./application-folder.ts";
import { filesOf } from "./pages.ts";

const SECRETS = [`whsec_${"d".repeat(43)}`, `whsec_${"e".repeat(43)}`] as const;
const ROUTE = "app/webhooks/route.js";
const PAGE = "receiving-webhooks.md";
const files = filesOf(PAGE);

let folder: string;
beforeAll(async () => {
  // In Next.js, a separate process does the work; here one process does both.
  folder = await makeApplicationFolder(
    PAGE,
    new Map([...files, ["next.js", `import "./work.js";\nexport * from "./${ROUTE}";\n`]]),
  );
});

it("docs/receiving-webhooks.md contains every file that it refers to", () => {
  expect([...files.keys()]).toEqual([
    "receiver.js",
    "secrets.js",
    "inbox.js",
    "work.js",
    "node-http.js",
    "express.js",
    "fastify.js",
    "hono.js",
    "serve-hono.js",
    ROUTE,
  ]);
});

// Several processes start at once, which takes time on a busy machine.
describe.concurrent("the receiver of the page", () => {
  it.each([
    ["node-http.js", []],
    ["express.js", []],
    ["fastify.js", []],
    ["serve-hono.js", []],
    ["serve-fetch.js", ["next.js"]],
  ])("%s %j passes every check", async (program, args) => {
    const [port, sinkPort] = [await freePort(), await freePort()];
    const env = cliEnv({
      PORT: String(port),
      INBOX: join(folder, `inbox-${port}.db`),
      SERVICE_WEBHOOK_SECRET: SECRETS[0],
      SERVICE_WEBHOOK_SECRET_OLD: SECRETS[1],
      EFFECTS_URL: `http://127.0.0.1:${sinkPort}`,
    });
    const receiver = spawn(process.execPath, [program, ...args.map((name) => join(folder, name))], {
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let complaints = "";
    receiver.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
    const flags = ["--effects", "--sink", String(sinkPort), "--wait", "1h", "--json", "--secret-file", "-"];
    const { stdout } = await runCli(["webhooks", "check", `${port}/webhooks`, ...flags], { input: SECRETS.join("\n") });
    receiver.kill();
    await once(receiver, "exit");
    const report = JSON.parse(stdout) as ReceiverReport;
    expect(
      report.checks.filter(({ status }) => status !== "passed"),
      complaints,
    ).toEqual([]);
    expect(report.grade).toBe("A");
  });
});

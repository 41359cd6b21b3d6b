import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { filesOf } from "../docs/pages.ts";
import { freePort } from "../support/free-port.ts";
import { runCli } from "../support/run-cli.ts";
import { findProgram } from "./support/debian.ts";
import { recordVersion } from "./support/tool-version.ts";

const SECRET = `whsec_${"d".repeat(43)}`;
const FILES = filesOf("frameworks.md");

/** How a receiver of the page starts on a port, in a folder with all files of the page. */
type Start = (port: string, folder: string) => string[];

/** Returns the first of these programs that exists and runs with these arguments. */
const programThatRuns = (programs: readonly string[], ...args: string[]): string | undefined =>
  programs.find((program) => spawnSync(program, args).status === 0);

const pythonWith = (module: string): string | undefined =>
  programThatRuns(["python3", "/usr/bin/python3"], "-c", `import ${module}`);

const go = findProgram("go", "golang-go", "golang-1.19-go", "golang-1.19-src");

const buildWithGo = (folder: string): string => {
  const program = existsSync(go!) ? realpathSync(go!) : go!;
  const env = { ...process.env, GOCACHE: join(folder, "cache"), GO111MODULE: "off", GOFLAGS: "" };
  const [binary, file] = [join(folder, "receiver"), join(folder, "receiver.go")];
  const { stderr, status } = spawnSync(program, ["build", "-o", binary, file], { encoding: "utf8", env });
  expect(status, stderr).toBe(0);
  return binary;
};

const php = programThatRuns(["php"], "--version");
const java = programThatRuns(["java"], "--list-modules");
const puma = programThatRuns(["puma"], "--version");
const [python, flask, fastapi] = ["http.server", "flask", "fastapi, uvicorn"].map(pythonWith);
const moduleVersion = (module: string): string[] => ["-c", `import ${module}; print(${module}.__version__)`];

/** They store events. The others only print them. */
const WITH_INBOX = new Set(["Python", "Flask", "FastAPI"]);

const RECEIVERS: [name: string, program: string | undefined, version: string[], start: Start][] = [
  ["Python", python, ["--version"], () => [python!, "receiver.py"]],
  ["Flask", flask, moduleVersion("flask"), (port) => [flask!, "-m", "flask", "--app=flask_app", "run", "--port", port]],
  [
    "FastAPI",
    fastapi,
    moduleVersion("fastapi"),
    (port) => [fastapi!, "-m", "uvicorn", "fastapi_app:app", "--port", port],
  ],
  ["PHP", php, ["--version"], (port) => [php!, "-S", `127.0.0.1:${port}`, "receiver.php"]],
  ["Ruby", puma, ["--version"], (port) => [puma!, "--bind", `tcp://127.0.0.1:${port}`, "config.ru"]],
  ["Java", java, ["--version"], (_port, folder) => [java!, join(folder, "Receiver.java")]],
  ["Go", go, ["version"], (_port, folder) => [buildWithGo(folder)]],
];

describe.each(RECEIVERS)("the %s receiver in docs/frameworks.md", (name, program, version, start) => {
  recordVersion(program, ...version);
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "service-language-"));
    for (const [name, text] of FILES) if (!name.includes("/")) writeFileSync(join(folder, name), text);
    return () => rmSync(folder, { recursive: true, force: true });
  });

  /** Starts the receiver, and returns its port and what it has printed to stderr. */
  async function startReceiver(
    secret: string,
    more: NodeJS.ProcessEnv = {},
  ): Promise<{ port: string; complaints: () => string }> {
    const port = String(await freePort());
    const [file = "", ...args] = start(port, folder);
    const env = { ...process.env, PORT: port, SERVICE_WEBHOOK_SECRET: secret, ...more };
    const receiver = spawn(file, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
    let complaints = "";
    receiver.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
    const exited = once(receiver, "exit");
    onTestFinished(async () => {
      receiver.kill();
      await exited;
    });
    return { port, complaints: () => complaints };
  }

  /** Posts an event with a valid signature of this secret. Returns "refused" for a receiver that has exited. */
  async function post(url: string, secret: string, payload = '{"id":"evt_1","type":"order.created"}') {
    const time = Math.floor(Date.now() / 1000);
    const mac = createHmac("sha256", secret).update(`${time}.${payload}`).digest("hex");
    const headers = { "Content-Type": "application/json", "Service-Signature": `t=${time},v1=${mac}` };
    const response = await fetch(url, { method: "POST", headers, body: payload }).catch(() => undefined);
    return response?.status ?? "refused";
  }

  it.skipIf(program === undefined)("rejects every forged delivery, and gets an A if it stores events", async () => {
    const sink = await freePort();
    const { port, complaints } = await startReceiver(SECRET, { EFFECTS_URL: `http://127.0.0.1:${sink}` });
    const effects = WITH_INBOX.has(name) ? ["--effects", "--sink", String(sink)] : [];
    const flags = ["--wait", "60s", "--json", "--secret-file", "-", ...effects];
    const { stdout, stderr } = await runCli(["webhooks", "check", `${port}/webhooks`, ...flags], { input: SECRET });
    expect(stdout, stderr + complaints()).not.toBe("");
    const { checks, grade } = JSON.parse(stdout) as ReceiverReport;
    const failed = checks.filter(({ status }) => status === "failed");
    expect({ grade, failed }).toEqual({ grade: WITH_INBOX.has(name) ? "A" : "B", failed: [] });
  });

  it.skipIf(program === undefined)(
    "accepts events at its path only, and no body over 2 MiB or of a negative length",
    async () => {
      const { port } = await startReceiver(SECRET);
      const url = `http://127.0.0.1:${port}`;
      await expect.poll(() => post(`${url}/webhooks`, SECRET)).toBe(204);
      expect(await post(`${url}/other`, SECRET)).toBe(404);
      expect([400, 413, "refused"]).toContain(await post(`${url}/webhooks`, SECRET, `"${"x".repeat(2 ** 21)}"`));
      const socket = connect(Number(port), "127.0.0.1");
      socket.write("POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n");
      // PHP closes the connection without a response.
      const [response] = (await Promise.race([once(socket, "data"), once(socket, "close")])) as [Buffer | boolean];
      expect(String(response)).toMatch(/^(false|HTTP\/1\.[01] 4\d\d )/);
      socket.destroy();
      expect(await post(`${url}/webhooks`, SECRET)).toBe(204);
    },
  );

  it.skipIf(program === undefined)("accepts nothing if its secret is empty", async () => {
    const { port, complaints } = await startReceiver("");
    // It exits, or its server runs on and responds with an error.
    await expect
      .poll(async () => complaints() + String(await post(`http://127.0.0.1:${port}/webhooks`, "")))
      .toMatch(/SERVICE_WEBHOOK_SECRET is not set[^]*(refused|500)$/);
  });
});

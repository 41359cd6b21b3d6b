import { spawn as spawnChild } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../client/support/scripted-server.ts";
import { kitPlatform } from "../../testing/kit.ts";
import { BIN, cliEnv, type CliResult, createConfigDir, runCli } from "../../support/run-cli.ts";
import { CTRL_C, ENTER, runInTerminal, type TerminalSession } from "../../support/terminal.ts";

const platform = kitPlatform();
let live: Record<string, string>;
beforeAll(async () => {
  live = { ...platform.env, SERVICE_API_KEY: platform.liveKey };
});

const service = (...args: string[]): Promise<CliResult> => runCli([...args, "--live"], { env: live });
const inTerminal = (args: readonly string[], env: Record<string, string> = {}): TerminalSession =>
  runInTerminal([...args, "--live"], { env: { ...live, ...env } });
const exists = async (id: string): Promise<boolean> => (await service("customers", "get", id)).exitCode === 0;

function accepts(baseUrl: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

let count = 0;
async function newCustomer(): Promise<string> {
  return (await service("customers", "create", "-q", "--email", `c${++count}@example.com`)).stdout.trim();
}

describe("a prompt", () => {
  it("is printed on stderr, so a redirected stdout contains only data", async () => {
    const id = await newCustomer();
    const file = join(createConfigDir(), "out");
    const command = `'${process.execPath}' '${BIN}' customers delete ${id} --live --json > '${file}'`;
    const pty = spawn("sh", ["-c", command], { cols: 100, rows: 30, env: { ...cliEnv(live), TERM: "xterm" } });
    let screen = "";
    const ended = new Promise<void>((resolve) => pty.onExit(() => resolve()));
    await new Promise<void>((resolve) =>
      pty.onData((data) => {
        screen += data;
        if (screen.includes(`Type ${id} to continue`)) resolve();
      }),
    );
    pty.write(id + ENTER);
    await ended;
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ id, object: "customer", deleted: true });
  });

  it("fails with the name of its flag without a terminal", async () => {
    const id = await newCustomer();
    const { exitCode, stdout, stderr } = await service("customers", "delete", id);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("--yes is required");
    expect(await exists(id)).toBe(true);
  });

  it.each<[string, string[], Record<string, string>]>([
    ["--no-input", ["--no-input"], {}],
    ["SERVICE_NO_INPUT", [], { SERVICE_NO_INPUT: "1" }],
  ])("is disabled by %s, even on a terminal", async (_name, flags, env) => {
    const id = await newCustomer();
    const session = inTerminal(["customers", "delete", id, ...flags], env);
    expect(await session.ended).toBe(2);
    expect(session.text()).toContain("--yes is required");
    const login = runInTerminal(["login", "--api-key-stdin", ...flags], {
      env: { ...live, SERVICE_API_KEY: "", ...env },
    });
    expect(await login.ended).toBe(2);
    expect(login.text()).toContain("--api-key-stdin with a pipe is required");
    expect(await exists(id)).toBe(true);
  });
});

describe("a live deletion", () => {
  it("proceeds once the ID is typed", async () => {
    const id = await newCustomer();
    const session = inTerminal(["customers", "delete", id]);
    await session.waitFor(`Type ${id} to continue`);
    session.type(id + ENTER);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain(`Deleted customer ${id}`);
    expect(await exists(id)).toBe(false);
  });

  it.each([
    ["something else", "yes"],
    ["nothing", ""],
  ])("is canceled if %s is typed", async (_what, message) => {
    const id = await newCustomer();
    const session = inTerminal(["customers", "delete", id]);
    await session.waitFor(`Type ${id} to continue`);
    session.type(message + ENTER);
    expect(await session.ended).toBe(1);
    expect(session.text()).toContain("nothing was changed");
    expect(await exists(id)).toBe(true);
  });

  it.each([
    ["credential", "", 4, "Not signed in"],
    ["object", undefined, 3, "The customer cus_4Vf8aTqz0bKm2sNw9XyRcd does not exist"],
  ])("reports a missing %s before the question", async (_what, key = platform.liveKey, exitCode, message) => {
    const session = inTerminal(["customers", "delete", "cus_4Vf8aTqz0bKm2sNw9XyRcd"], { SERVICE_API_KEY: key });
    expect(await session.ended).toBe(exitCode);
    expect(session.text()).toContain(message);
    expect(session.text()).not.toContain("This is live mode");
  });

  it("proceeds without a prompt with --yes", async () => {
    const id = await newCustomer();
    expect(await service("customers", "delete", id, "--yes")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await exists(id)).toBe(false);
  });
});

describe("Ctrl-C", () => {
  it("at a prompt exits with 130 and changes nothing", async () => {
    const id = await newCustomer();
    const session = inTerminal(["customers", "delete", id]);
    await session.waitFor(`Type ${id} to continue`);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.text()).toContain("Interrupted");
    expect(session.text()).not.toContain("    at ");
    expect(await exists(id)).toBe(true);
  });

  it("while waiting exits with 130 and restores the cursor", async () => {
    const server = await startServer(() => {});
    const session = inTerminal(["customers", "list", "--base-url", server.url]);
    await session.waitFor(`Waiting for ${new URL(server.url).host}`);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.output().lastIndexOf("\u001b[?25h")).toBeGreaterThan(session.output().lastIndexOf("\u001b[?25l"));
    expect(session.text().trimEnd()).toMatch(/Interrupted$/);
  });

  it.each([
    ["SIGINT", 130, "Interrupted\n"],
    ["SIGTERM", 143, "Terminated\n"],
  ] as const)("%s in a pipe ends a request in flight, with exit code %i", async (signal, expected, message) => {
    let onRequest = (): void => {};
    const request = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    const { url } = await startServer(() => onRequest());
    const child = spawnChild(process.execPath, [BIN, "customers", "list", "--live", "--base-url", url], {
      env: cliEnv(live),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    await request;
    child.kill(signal);
    expect(await once(child, "close")).toEqual([expected, null]);
    expect(stderr).toBe(message);
  });

  it("pressed twice ends pending work immediately", async () => {
    const child = spawnChild(process.execPath, [BIN, "serve", "--ephemeral", "--port", "0", "--json"], {
      env: cliEnv(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    const ready = JSON.parse(first.toString().split("\n")[0]!) as { base_url: string; sandbox_key: string };
    // A request whose body has not arrived is in flight.
    const socket = connect(Number(new URL(ready.base_url).port), "127.0.0.1");
    const head = [
      "POST /v1/customers HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${ready.sandbox_key}`,
      "Content-Type: application/json",
      "Content-Length: 100",
      "Expect: 100-continue",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await once(socket, "data");
    child.kill("SIGINT");
    while (await accepts(ready.base_url));
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([null, "SIGINT"]);
    socket.destroy();
  });
});

describe("a secret in the CLI", () => {
  it("is typed without echo or read from stdin; no flag accepts an API key or a password", async () => {
    const session = runInTerminal(["login", "--api-key-stdin"], { env: { ...platform.env, SERVICE_API_KEY: "" } });
    await session.waitFor("API key");
    session.type(platform.apiKey + ENTER);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("✓ Signed in to");
    expect(session.text()).not.toContain(platform.apiKey);
    const { SERVICE_API_KEY: _, ...env } = platform.env;
    const piped = await runCli(["login", "--api-key-stdin"], { env, input: platform.apiKey });
    expect(piped.exitCode).toBe(0);
    expect(piped.stdout + piped.stderr).not.toContain(platform.apiKey);
    const reference = readFileSync(new URL("../../../docs/commands.md", import.meta.url), "utf8");
    expect(reference).not.toMatch(/--(api-key|password|token)[ =]</);
  });

  it("is shown once, when it is created", async () => {
    const created = JSON.parse(
      (await service("keys", "create", "--full-access", "--name", "once", "--json")).stdout,
    ) as {
      id: string;
      key: string;
    };
    expect(created.key).toMatch(/^rk_live_|^sk_live_/);
    const { stdout } = await service("keys", "get", created.id, "--json");
    expect(stdout).not.toContain(created.key);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningPlatform, startPlatform } from "../../support/platform.ts";
import { json, startServer } from "../../client/support/scripted-server.ts";
import { BIN, cliEnv, type CliResult, runCli } from "../../support/run-cli.ts";
import { runInTerminal } from "../../support/terminal.ts";

let platform: RunningPlatform;
let first: string;
let second: string;

const service = (args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  runCli(args, { env: { ...platform.env, ...env } });

beforeAll(async () => {
  platform = await startPlatform();
  const create = (...args: string[]) => service(["customers", "create", "-q", ...args]);
  first = (await create("--email", "ada@example.com", "--metadata", "plan=pro")).stdout.trim();
  second = (await create("--email", "bob@example.com")).stdout.trim();
});
afterAll(() => platform.stop());

describe("--fields", () => {
  it("--fields chooses columns, dots reaching inside", async () => {
    const { stdout } = await service(["customers", "list", "--fields", "id, email,metadata.plan"]);
    expect(stdout).toBe(`${second}\tbob@example.com\t\n${first}\tada@example.com\tpro\n`);
  });

  it("--fields chooses members of the JSON", async () => {
    const { stdout } = await service(["customers", "get", first, "--json", "--fields", "email,metadata.plan"]);
    expect(JSON.parse(stdout)).toEqual({ email: "ada@example.com", "metadata.plan": "pro" });
  });

  it("--fields chooses members of each line of a stream", async () => {
    const args = ["trigger", "order.created", "--count", "2", "--json", "--fields", "type"];
    const line = '{"type":"order.created"}\n';
    expect(await service(args)).toEqual({ exitCode: 0, stdout: line + line, stderr: "" });
  });

  it("--fields names the fields there are, where one does not exist", async () => {
    expect(await service(["customers", "list", "--fields", "id,mail"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        'Error: A customer has no field "mail"\nFields: id, object, email, name, phone, metadata, livemode, created\n',
    });
  });
});

describe("what --fields and --jq cannot mean", () => {
  it.each([
    [["--fields", "mail"], 'A customer has no field "mail"'],
    [["--json", "--jq", ".["], "--jq .["],
  ])("%j is refused before anything is made", async (flags, words) => {
    const { exitCode, stdout, stderr } = await service(["customers", "create", "--email", "no@example.com", ...flags]);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringContaining(words) });
    expect((await service(["customers", "list", "--email", "no@example.com", "-q"])).stdout).toBe("");
  });
});

describe("--jq", () => {
  it.each([
    [".[].email", "bob@example.com\nada@example.com\n"],
    ["map({id}) | length", "2\n"],
    [
      '.[] | select(.metadata.plan == "pro") | {email, plan: (.metadata.plan // "none")}',
      '{"email":"ada@example.com","plan":"pro"}\n',
    ],
    ["empty", ""],
  ])("--jq %s", async (expression, expected) => {
    expect(await service(["customers", "list", "--json", "--jq", expression])).toEqual({
      exitCode: 0,
      stdout: expected,
      stderr: "",
    });
  });

  it.each([".[", ".[0].email.x", "nonsense"])("--jq says what is wrong with %s", async (expression) => {
    const { exitCode, stdout, stderr } = await service(["customers", "list", "--json", "--jq", expression]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect((JSON.parse(stderr) as { title: string }).title).toMatch(/^--jq .*[^:\s]$/);
  });
});

describe("global flags", () => {
  it("--json may stand before the command, between its words, and behind it", async () => {
    const expected = await service(["customers", "list", "--json"]);
    expect(expected.exitCode).toBe(0);
    expect(await service(["--json", "customers", "list"])).toEqual(expected);
    expect(await service(["customers", "--json", "list"])).toEqual(expected);
  });
});

describe("a reader that goes away", () => {
  it("a reader that goes away ends the command quietly, with 0", async () => {
    const crowded = await startPlatform();
    await service(["trigger", "customer.created", "--count", "60"], crowded.env);
    const child = spawn(process.execPath, [BIN, "customers", "list", "--all", "--json", "--jq", ".[]"], {
      env: cliEnv(crowded.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    await crowded.stop();
  });

  it("nobody who reads errors does not stop a command whose errors nobody reads", async () => {
    const child = spawn(process.execPath, [BIN, "customers", "get", first, "--debug", "--quiet"], {
      env: cliEnv(platform.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.destroy();
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${first}\n` });
  });
});

describe("data and words", () => {
  const inTerminal = (...args: string[]) => runInTerminal(args, { env: platform.env });

  it("stdout is data only: nothing else in a pipe, and nothing at all where a command fails", async () => {
    const listed = await service(["customers", "list", "--email", "bob@example.com"]);
    expect(listed).toEqual({ exitCode: 0, stdout: expect.stringContaining(second), stderr: "" });
    const created = await service(["customers", "create", "--email", "nine@example.com"]);
    expect(created).toMatchObject({ exitCode: 0, stderr: "" });
    await service(["customers", "delete", /cus_\w+/.exec(created.stdout)![0]]);
    const missing = await service(["customers", "get", "cus_0000000000000000000000"]);
    expect(missing).toMatchObject({ exitCode: 3, stdout: "" });
    expect(missing.stderr).not.toBe("");
  });

  it("--json prints one document and nothing else, and takes no value", async () => {
    for (const args of [
      ["customers", "get", "--json", first],
      ["customers", "list", "--json"],
      ["whoami", "--json"],
      ["config", "list", "--json"],
      ["version", "--json"],
      ["open", "--json"],
    ]) {
      const { exitCode, stdout, stderr } = await service(args);
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: "" });
      expect(() => JSON.parse(stdout)).not.toThrow();
      expect(stdout.endsWith("\n")).toBe(true);
    }
  });

  it("--jq without --json says what is missing", async () => {
    const { exitCode, stderr } = await service(["customers", "list", "--jq", "."]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: "Error: --jq requires --json\n" });
  });

  it("a stream is one JSON object a line", async () => {
    const { stdout } = await service(["trigger", "order.created", "--count", "3", "--json"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(Array(3).fill("order.created"));
  });

  it("a list is tab-separated without a header in a pipe, and a table without borders on a terminal", async () => {
    const { stdout } = await service(["customers", "list", "--email", "bob@example.com"]);
    const [line = ""] = stdout.split("\n");
    expect(line.split("\t").slice(0, 2)).toEqual([second, "bob@example.com"]);
    const session = inTerminal("customers", "list");
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/^ID +EMAIL/);
    expect(session.text()).not.toMatch(/[|│┃+]/);
  });

  it("an empty list is [], nothing, or a sentence for a person; never a failure", async () => {
    expect(await service(["payments", "list", "--json"])).toEqual({ exitCode: 0, stdout: "[]\n", stderr: "" });
    expect(await service(["payments", "list"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const session = inTerminal("payments", "list");
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/No payments\.\n$/);
  });

  it("JSON may grow: what the program does not know passes through", async () => {
    const { url } = await startServer(
      json(200, { id: "cus_1", object: "customer", email: "a@example.com", created: "soon", new: 1 }),
    );
    const { exitCode, stdout } = await service(["customers", "get", "cus_1", "--json"], { SERVICE_BASE_URL: url });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ new: 1 });
  });
});

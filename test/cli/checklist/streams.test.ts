import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import { kitPlatform, startPlatform } from "../../testing/kit.ts";
import { json, startServer } from "../../client/support/scripted-server.ts";
import { BIN, cliEnv, type CliResult, runCli } from "../../support/run-cli.ts";
import { openScreen } from "../../support/screen.ts";
import { runInTerminal } from "../../support/terminal.ts";
import { CUSTOMER } from "../../support/api-objects.ts";

const platform = kitPlatform();
let first: string;
let second: string;

const service = (args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  runCli(args, { env: { ...platform.env, ...env } });

beforeAll(async () => {
  const create = (...args: string[]) => service(["customers", "create", "-q", ...args]);
  first = (await create("--email", "ada@example.com", "--metadata", "plan=pro")).stdout.trim();
  second = (await create("--email", "bob@example.com")).stdout.trim();
});

describe("--fields", () => {
  it("selects columns, and nested fields by dots", async () => {
    const { stdout } = await service(["customers", "list", "--fields", "id, email,metadata.plan"]);
    expect(stdout).toBe(`${second}\tbob@example.com\t\n${first}\tada@example.com\tpro\n`);
  });

  it("selects fields of the JSON", async () => {
    const { stdout } = await service(["customers", "get", first, "--json", "--fields", "email,metadata.plan"]);
    expect(JSON.parse(stdout)).toEqual({ email: "ada@example.com", "metadata.plan": "pro" });
  });

  it("selects fields of each line of a stream", async () => {
    const args = ["trigger", "order.created", "--count", "2", "--json", "--fields", "type"];
    const line = '{"type":"order.created"}\n';
    expect(await service(args)).toEqual({ exitCode: 0, stdout: line + line, stderr: "" });
  });

  it("lists the known fields if one is unknown", async () => {
    expect(await service(["customers", "list", "--fields", "id,mail"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        'Error: A customer has no field "mail"\nFields: id, object, email, name, phone, metadata, livemode, created\n',
    });
  });
});

describe("invalid --fields and --jq", () => {
  it.each([
    [["--fields", "mail"], 'A customer has no field "mail"'],
    [["--json", "--jq", ".["], "--jq .["],
  ])("%j are rejected before any change", async (flags, message) => {
    const { exitCode, stdout, stderr } = await service(["customers", "create", "--email", "no@example.com", ...flags]);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) });
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
  ])("evaluates %s", async (expression, expected) => {
    expect(await service(["customers", "list", "--json", "--jq", expression])).toEqual({
      exitCode: 0,
      stdout: expected,
      stderr: "",
    });
  });

  it.each([
    [".[", 2],
    ["nonsense", 2],
    [".[0].email.x", 1],
  ])("reports the error in %s, with %d", async (expression, code) => {
    const { exitCode, stdout, stderr } = await service(["customers", "list", "--json", "--jq", expression]);
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: "" });
    expect((JSON.parse(stderr) as { detail: string }).detail).toMatch(/^--jq .*[^:\s]$/);
  });
});

describe("global flags", () => {
  it("accept --json before, between and after the command's words", async () => {
    const expected = await service(["customers", "list", "--json"]);
    expect(expected.exitCode).toBe(0);
    expect(await service(["--json", "customers", "list"])).toEqual(expected);
    expect(await service(["customers", "--json", "list"])).toEqual(expected);
  });
});

describe("a reader that closes the pipe", () => {
  it("ends the command quietly with 0", async () => {
    await using crowded = await startPlatform();
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
  });

  it("does not stop a command if it closes only stderr", async () => {
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

describe("output", () => {
  const inTerminal = (...args: string[]) => runInTerminal(args, { env: platform.env });

  it("keeps stdout for data: nothing else in a pipe, and nothing if a command fails", async () => {
    const listed = await service(["customers", "list", "--email", "bob@example.com"]);
    expect(listed).toEqual({ exitCode: 0, stdout: expect.stringContaining(second), stderr: "" });
    const created = await service(["customers", "create", "--email", "nine@example.com"]);
    expect(created).toMatchObject({ exitCode: 0, stderr: "" });
    await service(["customers", "delete", /cus_\w+/.exec(created.stdout)![0]]);
    const missing = await service(["customers", "get", "cus_0000000000000000000000"]);
    expect(missing).toMatchObject({ exitCode: 3, stdout: "" });
    expect(missing.stderr).not.toBe("");
  });

  it("prints one document with --json, which takes no value", async () => {
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

  it("prints JSON with --jq even without --json", async () => {
    const { exitCode, stdout } = await service(["customers", "list", "--jq", "type"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "array\n" });
  });

  it("prints a stream as one JSON object per line", async () => {
    const { stdout } = await service(["trigger", "order.created", "--count", "3", "--json"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(Array(3).fill("order.created"));
  });

  it("prints a list as tab-separated lines in a pipe, and as a table on a terminal", async () => {
    const { stdout } = await service(["customers", "list", "--email", "bob@example.com"]);
    const [line = ""] = stdout.split("\n");
    expect(line.split("\t").slice(0, 2)).toEqual([second, "bob@example.com"]);
    const session = inTerminal("customers", "list");
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/^ID +EMAIL/);
    expect(session.text()).not.toMatch(/[|│┃+]/);
  });

  it("prints an empty list as [], nothing, or a sentence on a terminal, and exits with 0", async () => {
    expect(await service(["payments", "list", "--json"])).toEqual({ exitCode: 0, stdout: "[]\n", stderr: "" });
    expect(await service(["payments", "list"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const session = inTerminal("payments", "list");
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/No payments\.\n$/);
  });

  it("is not wrapped on a terminal of unknown size", async () => {
    const command = [process.execPath, BIN, "custmers"];
    const screen = openScreen("sh", ["-c", 'stty columns 0 rows 0; exec "$0" "$@"', ...command]);
    expect(await screen.ended).toBe(2);
    await screen.shows('Error: Unknown command "custmers"');
  });

  it("passes unknown JSON fields through", async () => {
    const { url } = await startServer(json(200, { ...CUSTOMER, new: 1 }));
    const { exitCode, stdout } = await service(["customers", "get", "cus_1", "--json"], { SERVICE_BASE_URL: url });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ new: 1 });
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { BIN, cliEnv, type CliResult, runCli } from "../support/run-cli.ts";

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
  it("chooses columns, dots reaching inside", async () => {
    const { stdout } = await service(["customers", "list", "--fields", "id, email,metadata.plan"]);
    expect(stdout).toBe(`${second}\tbob@example.com\t\n${first}\tada@example.com\tpro\n`);
  });

  it("chooses members of the JSON", async () => {
    const { stdout } = await service(["customers", "get", first, "--json", "--fields", "email,metadata.plan"]);
    expect(JSON.parse(stdout)).toEqual({ email: "ada@example.com", "metadata.plan": "pro" });
  });

  it("names the fields there are, where one does not exist", async () => {
    expect(await service(["customers", "list", "--fields", "id,mail"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        'Error: A customer has no field "mail"\nFields: id, object, email, name, phone, metadata, livemode, created\n',
    });
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
  ])("%s", async (expression, expected) => {
    expect(await service(["customers", "list", "--json", "--jq", expression])).toEqual({
      exitCode: 0,
      stdout: expected,
      stderr: "",
    });
  });

  it.each([".[", ".[0].email.x", "nonsense"])("says what is wrong with %s", async (expression) => {
    const { exitCode, stdout, stderr } = await service(["customers", "list", "--json", "--jq", expression]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect((JSON.parse(stderr) as { title: string }).title).toMatch(/^--jq /);
  });
});

describe("global flags", () => {
  it("may stand before the command, between its words, and behind it", async () => {
    const expected = await service(["customers", "list", "--json"]);
    expect(expected.exitCode).toBe(0);
    expect(await service(["--json", "customers", "list"])).toEqual(expected);
    expect(await service(["customers", "--json", "list"])).toEqual(expected);
  });
});

describe("colour", () => {
  const ESCAPE = "\u001b[";
  const coloured = async (env: Record<string, string>, ...args: string[]): Promise<boolean> =>
    (await service(["customers", "list", ...args], env)).stdout.includes(ESCAPE);
  const colouredErrors = async (env: Record<string, string>): Promise<boolean> =>
    (await service(["customers", "lst"], env)).stderr.includes(ESCAPE);

  it("is off in a pipe", async () => {
    expect(await colouredErrors({})).toBe(false);
  });

  it("is on by FORCE_COLOR, for words on stderr too", async () => {
    expect(await colouredErrors({ FORCE_COLOR: "1" })).toBe(true);
  });

  it.each([{ FORCE_COLOR: "1", NO_COLOR: "1" }, { FORCE_COLOR: "0" }, { NO_COLOR: "1" }])(
    "is off by %j",
    async (env) => {
      expect(await colouredErrors(env)).toBe(false);
    },
  );

  it("never reaches data in a pipe", async () => {
    expect(await coloured({ FORCE_COLOR: "1" })).toBe(false);
    expect(await coloured({ FORCE_COLOR: "1" }, "--json")).toBe(false);
  });

  it("is off by --no-color", async () => {
    const { stderr } = await service(["customers", "lst", "--no-color"], { FORCE_COLOR: "1" });
    expect(stderr).not.toContain(ESCAPE);
  });
});

describe("a reader that goes away", () => {
  it("ends the command quietly, with 0", async () => {
    await service(["trigger", "customer.created", "--count", "60"]);
    const child = spawn(process.execPath, [BIN, "customers", "list", "--all", "--json", "--jq", ".[]"], {
      env: cliEnv(platform.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  it("does not stop a command whose errors nobody reads", async () => {
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

describe("--debug", () => {
  it("traces requests on stderr, without the key", async () => {
    const { exitCode, stdout, stderr } = await service(["customers", "get", first, "-q", "--debug"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${first}\n` });
    expect(stderr).toMatch(
      new RegExp(`^GET ${platform.baseUrl}/v1/customers/${first} → 200 req_\\w+ \\(\\d+ ms\\)\n$`),
    );
    expect(stderr).not.toContain(platform.sandboxKey);
  });
});

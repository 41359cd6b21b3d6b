import { beforeAll, describe, expect, it } from "vitest";
import { kitPlatform } from "../../testing/kit.ts";
import { type CliResult, runCli } from "../../support/run-cli.ts";
import { runInTerminal, type TerminalSession } from "../../support/terminal.ts";

const ESCAPE = "\u001b[";
/** Matches colors but not cursor movements, which the spinner of a slow request writes. */
const COLOUR = /\u001b\[[0-9;]*m/;
const platform = kitPlatform();
let ada: string;

beforeAll(async () => {
  ada = (await service(["customers", "create", "--email", "ada@example.com", "-q"])).stdout.trim();
});

const service = (args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  runCli(args, { env: { ...platform.env, ...env } });
const inTerminal = (args: readonly string[], env: Record<string, string> = {}): TerminalSession =>
  runInTerminal(args, { env: { ...platform.env, ...env } });

async function coloredOnTerminal(env: Record<string, string>, ...flags: string[]): Promise<boolean> {
  const session = inTerminal(["customers", "list", ...flags], env);
  expect(await session.ended).toBe(0);
  return COLOUR.test(session.output());
}
const coloredErrors = async (env: Record<string, string>, ...flags: string[]): Promise<boolean> =>
  (await service(["customers", "lst", ...flags], env)).stderr.includes(ESCAPE);

describe("color", () => {
  it("is on in a terminal, even for JSON, and off in a pipe", async () => {
    expect(await coloredOnTerminal({})).toBe(true);
    expect(await coloredOnTerminal({}, "--json")).toBe(true);
    expect(await coloredErrors({})).toBe(false);
  });

  it("is disabled by each of NO_COLOR, TERM=dumb and --no-color", async () => {
    expect(await coloredOnTerminal({ NO_COLOR: "1" })).toBe(false);
    expect(await coloredOnTerminal({ TERM: "dumb" })).toBe(false);
    expect(await coloredOnTerminal({}, "--no-color")).toBe(false);
    expect(await coloredOnTerminal({ NO_COLOR: "" })).toBe(true);
  });

  it("is decided per stream: data in a pipe stays plain if stderr is colored", async () => {
    for (const args of [
      ["customers", "list"],
      ["customers", "list", "--json"],
    ]) {
      expect((await service(args, { FORCE_COLOR: "1" })).stdout).not.toContain(ESCAPE);
    }
    expect(await coloredErrors({ FORCE_COLOR: "1" })).toBe(true);
  });

  it("is enabled by FORCE_COLOR unless NO_COLOR is set, as the help documents", async () => {
    expect(await coloredErrors({ FORCE_COLOR: "1" })).toBe(true);
    expect(await coloredErrors({ FORCE_COLOR: "0" })).toBe(false);
    expect(await coloredErrors({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
    expect(await coloredErrors({ FORCE_COLOR: "1" }, "--no-color")).toBe(false);
    expect((await service(["help", "environment"])).stdout).toMatch(
      /^ *NO_COLOR\s+.* takes precedence over\s+FORCE_COLOR$/m,
    );
  });

  it("is disabled by NO_COLOR for tables, details, notes, errors and help on a terminal", async () => {
    for (const args of [
      ["customers", "list"],
      ["customers", "get", ada],
      ["orders", "create", "--amount", "1", "--currency", "EUR"],
      ["customers", "lst"],
      ["--help"],
    ]) {
      const session = inTerminal(args, { NO_COLOR: "1" });
      await session.ended;
      expect({ args, colored: COLOUR.test(session.output()) }).toEqual({ args, colored: false });
    }
  });

  it("is never the only carrier of meaning: the text is the same without it", async () => {
    const [colored, plain] = [
      inTerminal(["customers", "get", ada]),
      inTerminal(["customers", "get", ada, "--no-color"]),
    ];
    expect([await colored.ended, await plain.ended]).toEqual([0, 0]);
    const message = (text: string): string => text.replace(/\d+ \w+ ago|just now/, "");
    expect(message(colored.text())).toBe(message(plain.text()));
    const doctor = inTerminal(["doctor", "--no-color"], { SERVICE_API_KEY: "" });
    await doctor.ended;
    expect(doctor.text()).toContain("✓ ok");
    expect(doctor.text()).toContain("✗ failed");
  });

  it("does not change the JSON", async () => {
    const session = inTerminal(["customers", "get", ada, "--json"]);
    await session.ended;
    expect(JSON.parse(session.text())).toEqual(JSON.parse((await service(["customers", "get", ada, "--json"])).stdout));
  });
});

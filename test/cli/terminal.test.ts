import stringWidth from "string-width";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../client/support/scripted-server.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, ENTER, runInTerminal, type TerminalSession } from "../support/terminal.ts";

let platform: RunningPlatform;
let ada: string;

const NAME = "岡本 太郎, whose name goes on and on";
const service = async (...args: string[]): Promise<string> => (await runCli(args, { env: platform.env })).stdout.trim();
const inTerminal = (args: readonly string[], options: Parameters<typeof runInTerminal>[1] = {}): TerminalSession =>
  runInTerminal(args, { ...options, env: { ...platform.env, ...options.env } });

beforeAll(async () => {
  platform = await startPlatform();
  ada = await service(
    "customers",
    "create",
    "--email",
    "ada.lovelace@example.com",
    "--name",
    NAME,
    "--metadata",
    "plan=pro",
    "-q",
  );
  await service("orders", "create", "--amount", "1999", "--currency", "EUR", "-q");
  await service("orders", "create", "--amount", "500", "--currency", "JPY", "-q");
});
afterAll(() => platform.stop());

async function linesOf(session: TerminalSession): Promise<string[]> {
  expect(await session.ended).toBe(0);
  return session.text().trimEnd().split("\n");
}

describe("a table", () => {
  it("has a header, aligned columns and amounts as people write them", async () => {
    const lines = await linesOf(inTerminal(["orders", "list"]));
    expect(lines[0]).toMatch(/^ID {2,}STATUS {2,}AMOUNT {2,}CURRENCY {2,}CREATED$/);
    expect(lines[1]).toMatch(/^ord_\w{22} {2}pending {4,}500 {2}JPY {7}\d+ seconds? ago|just now$/);
    expect(lines[2]).toMatch(/ 19\.99 {2}EUR /);
    const column = lines[0]!.indexOf("STATUS");
    for (const line of lines.slice(1)) expect(line.slice(column)).toMatch(/^pending/);
  });

  it.each([120, 80, 60, 40])("fits %i columns, and never cuts an id", async (columns) => {
    const lines = await linesOf(inTerminal(["customers", "list"], { columns }));
    expect(lines[1]).toContain(ada);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  it("still prints on 20 columns", async () => {
    expect(await linesOf(inTerminal(["customers", "list"], { columns: 20 }))).not.toEqual([]);
  });

  it("is a sentence where there is nothing", async () => {
    expect(await linesOf(inTerminal(["payments", "list"]))).toEqual(["No payments."]);
  });
});

describe("one object", () => {
  it("is a line a detail, labels aligned", async () => {
    const lines = await linesOf(inTerminal(["customers", "get", ada]));
    expect(lines.slice(0, 5)).toEqual([
      `Id           ${ada}`,
      "Email        ada.lovelace@example.com",
      `Name         ${NAME}`,
      "Phone        –",
      "Metadata     plan=pro",
    ]);
  });

  it("names what was created, and what can be done where it failed", async () => {
    const created = inTerminal(["customers", "create", "--email", "bob@example.com"]);
    expect((await linesOf(created))[0]).toMatch(/^✓ Created customer cus_\w{22}$/);
    const failed = inTerminal(["customers", "create", "--email", "bob@example.com"]);
    expect(await failed.ended).toBe(1);
    expect(failed.text().trimEnd()).toMatch(/See who has it: service customers get cus_\w{22}$/);
  });
});

describe("colour", () => {
  it("shows on a terminal, in JSON too", async () => {
    for (const args of [
      ["customers", "list"],
      ["customers", "get", ada, "--json"],
    ]) {
      const session = inTerminal(args);
      expect(await session.ended).toBe(0);
      expect(session.output()).toContain("\u001b[3");
    }
  });

  it("leaves JSON what it is", async () => {
    const session = inTerminal(["customers", "get", ada, "--json"]);
    await session.ended;
    expect(JSON.parse(session.text())).toEqual(JSON.parse(await service("customers", "get", ada, "--json")));
  });

  it.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("is off by %j", async (env) => {
    const session = inTerminal(["customers", "list"], { env });
    expect(await session.ended).toBe(0);
    expect(session.output()).not.toContain("\u001b[");
  });
});

describe("a live deletion", () => {
  const live = (): { env: Record<string, string> } => ({ env: { SERVICE_API_KEY: platform.liveKey } });
  const newLive = async (email: string): Promise<string> => {
    const args = ["customers", "create", "--live", "-q", "--email", email];
    return (await runCli(args, { env: { ...platform.env, ...live().env } })).stdout.trim();
  };
  const exists = async (id: string): Promise<boolean> =>
    (await runCli(["customers", "get", id, "--live"], { env: { ...platform.env, ...live().env } })).exitCode === 0;

  it("is done once the id was typed", async () => {
    const id = await newLive("typed@example.com");
    const session = inTerminal(["customers", "delete", id, "--live"], live());
    await session.waitFor(`Type ${id} to go on`);
    session.type(id + ENTER);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain(`Deleted customer ${id}`);
    expect(await exists(id)).toBe(false);
  });

  it("is not done where something else was typed", async () => {
    const id = await newLive("mistyped@example.com");
    const session = inTerminal(["customers", "delete", id, "--live"], live());
    await session.waitFor(`Type ${id} to go on`);
    session.type(`yes${ENTER}`);
    expect(await session.ended).toBe(1);
    expect(session.text()).toContain("nothing was done");
    expect(await exists(id)).toBe(true);
  });

  it("is not done after Ctrl-C, which ends with 130", async () => {
    const id = await newLive("interrupted@example.com");
    const session = inTerminal(["customers", "delete", id, "--live"], live());
    await session.waitFor(`Type ${id} to go on`);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.text()).toContain("Interrupted");
    expect(session.text()).not.toContain("    at ");
    expect(await exists(id)).toBe(true);
  });

  it("is refused with --no-input, naming the flag", async () => {
    const id = await newLive("no-input@example.com");
    const session = inTerminal(["customers", "delete", id, "--live", "--no-input"], live());
    expect(await session.ended).toBe(2);
    expect(session.text()).toContain("--yes is required");
    expect(await exists(id)).toBe(true);
  });
});

describe("waiting", () => {
  it("shows a spinner, and Ctrl-C ends with 130 and brings the cursor back", async () => {
    const server = await startServer(() => {});
    const session = inTerminal(["customers", "list", "--base-url", server.url]);
    await session.waitFor(`Waiting for ${new URL(server.url).host}`);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.output().lastIndexOf("\u001b[?25h")).toBeGreaterThan(session.output().lastIndexOf("\u001b[?25l"));
    expect(session.text().trimEnd()).toMatch(/Interrupted$/);
  });

  it("says why it tries again", async () => {
    const server = await startServer((_request, response) =>
      response
        .writeHead(503, { "content-type": "application/problem+json", "retry-after": "50" })
        .end('{"detail":"Closed for the night.","code":"unavailable","request_id":"req_1"}'),
    );
    const session = inTerminal(["customers", "list", "--base-url", server.url]);
    await session.waitFor(/Closed for the night\.; trying again in 5\d\.\d s/);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
  });

  it("shows a bar for countable work, and takes it away", async () => {
    const session = inTerminal(["trigger", "customer.created", "--count", "10"]);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("10/10 customer.created");
    expect(session.text()).toMatch(/✓ Triggered 10 × customer\.created in \d/);
  });
});

describe("a key typed at the terminal", () => {
  it("is not shown", async () => {
    const session = inTerminal(["login", "--api-key-stdin"], { env: { SERVICE_API_KEY: "" } });
    await session.waitFor("API key");
    session.type(platform.sandboxKey + ENTER);
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("✓ Signed in to");
    expect(session.text()).not.toContain(platform.sandboxKey);
  });
});

describe("help", () => {
  it.each([60, 100])("fits %i columns but for examples", async (columns) => {
    const session = inTerminal(["--help"], { columns });
    expect(await session.ended).toBe(0);
    const lines = session
      .text()
      .split("\n")
      .filter((line) => !line.trimStart().startsWith("$"));
    expect(lines.join("\n")).toMatch(/customers {2,}Create, find/);
  });
});

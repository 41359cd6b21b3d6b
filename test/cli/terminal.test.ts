import stringWidth from "string-width";
import { beforeAll, describe, expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";
import { runCli } from "../support/run-cli.ts";
import { runInTerminal, type TerminalSession } from "../support/terminal.ts";

const platform = kitPlatform();
let ada: string;

const NAME = "岡本 太郎, whose name goes on and on";
const service = async (...args: string[]): Promise<string> => (await runCli(args, { env: platform.env })).stdout.trim();
const inTerminal = (args: readonly string[], options: Parameters<typeof runInTerminal>[1] = {}): TerminalSession =>
  runInTerminal(args, { ...options, env: { ...platform.env, ...options.env } });

beforeAll(async () => {
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

async function linesOf(session: TerminalSession): Promise<string[]> {
  expect(await session.ended).toBe(0);
  return session.text().trimEnd().split("\n");
}

describe("a hint that is too long", () => {
  it("breaks between words, with its command on a line of its own", async () => {
    const created = await service("keys", "create", "--scope", "orders:read", "--json", "--jq", ".key");
    const env = { SERVICE_API_KEY: created };
    const session = inTerminal(["customers", "list"], { env, columns: 40 });
    expect(await session.ended).toBe(5);
    const lines = session.text().trimEnd().split("\n");
    expect(lines.slice(-3, -1)).toEqual(["Use a key with that scope.", "To list the scopes of this one:"]);
    expect(lines.at(-1)).toMatch(/^ {2}\S.* whoami$/);
  });
});

describe("a table", () => {
  it("has a header, aligned columns and formatted amounts", async () => {
    const lines = await linesOf(inTerminal(["orders", "list"]));
    expect(lines[0]).toMatch(/^ID {2,}STATUS {2,}AMOUNT {2,}CURRENCY {2,}CREATED$/);
    expect(lines[1]).toMatch(/^ord_\w{22} {2}pending {4,}500 {2}JPY {7}(?:\d+[sm] ago|just now)$/);
    expect(lines[2]).toMatch(/ 19\.99 {2}EUR /);
    const column = lines[0]!.indexOf("STATUS");
    for (const line of lines.slice(1)) expect(line.slice(column)).toMatch(/^pending/);
  });

  it.each([120, 80, 60, 40])("fits %i columns without truncating IDs", async (columns) => {
    const lines = await linesOf(inTerminal(["customers", "list"], { columns }));
    expect(lines.filter((line) => line.startsWith(ada))).toHaveLength(1);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  it("puts each row on several aligned lines if the columns do not fit", async () => {
    const lines = await linesOf(inTerminal(["orders", "list"], { columns: 40 }));
    expect(lines).toHaveLength(6);
    expect(lines.filter((_, at) => at % 2 === 0)).toEqual([
      expect.stringMatching(/^ID {26}STATUS$/),
      expect.stringMatching(/^ord_\w{22} {2}pending$/),
      expect.stringMatching(/^ord_\w{22} {2}pending$/),
    ]);
    expect(lines[1]).toMatch(/^ {2}AMOUNT {2}CURRENCY {2}CREATED$/);
    expect(lines[3]).toMatch(/^ {5}500 {2}JPY {7}(?:\d+[sm] ago|just now)$/);
  });

  it.each(["customers", "orders", "payments", "events", "deliveries", "endpoints", "keys", "apps", "logs"])(
    "of %s fits 40 columns",
    async (resource) => {
      const lines = await linesOf(inTerminal([resource, "list"], { columns: 40 }));
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(40);
    },
  );

  it("shows when an event was created on 80 columns, and its object if there is space", async () => {
    const headOf = async (columns: number) => (await linesOf(inTerminal(["events", "list"], { columns })))[0];
    expect(await headOf(80)).toMatch(/^ID +TYPE +CREATED$/);
    expect(await headOf(100)).toMatch(/^ID +TYPE +OBJECT +CREATED$/);
  });

  it("shows when a delivery was created on 80 columns", async () => {
    const url = "https://hooks.example.com/deliveries";
    const endpoint = await service("endpoints", "create", "--url", url, "--events", "order.completed", "--jq", ".id");
    await service("endpoints", "ping", endpoint, "-q");
    const lines = await linesOf(inTerminal(["deliveries", "list"], { columns: 80 }));
    expect(lines[0]).toMatch(/^ID .* CREATED$/);
    expect(lines[1]).toMatch(/^dlv_\w{22} .* (?:\d+[sm] ago|just now)$/);
  });

  it("cuts a response before a row takes two lines", async () => {
    const args = ["endpoints", "create", "--url", "https://hooks.example.com", "--events", "order.completed"];
    const endpoint = await service(...args, "--jq", ".id");
    await service("trigger", "order.completed", "-q");
    await service("endpoints", "delete", endpoint, "-q");
    const lines = await linesOf(inTerminal(["deliveries", "list", "--endpoint", endpoint], { columns: 80 }));
    expect(lines[0]).toMatch(/^ID .* STATUS .* TYPE .* RESPONSE .* CREATED$/);
    expect(lines).toHaveLength(2);
  });

  it("still prints on 20 columns", async () => {
    expect(await linesOf(inTerminal(["customers", "list"], { columns: 20 }))).not.toEqual([]);
  });

  it("wraps lists after a comma, without truncating them on 80 columns", async () => {
    const lines = await linesOf(inTerminal(["trigger", "--list"], { columns: 80 }));
    const at = lines.findIndex((line) => line.startsWith("payment.failed "));
    expect(lines.slice(at, at + 3)).toEqual([
      "payment.failed              POST /v1/payments,            amount, currency,",
      "                            POST /v1/payments/ID/fail     order, metadata,",
      "                                                          failure_code",
    ]);
    expect(lines.join("")).not.toContain("…");
  });

  it("truncates URLs in the middle, because URLs of one host differ at their ends", async () => {
    for (const name of ["stock", "billing"]) {
      const url = `https://hooks.example.com/a/long/path/to/${name}`;
      await service("endpoints", "create", "--url", url, "--events", "order.completed,order.canceled");
    }
    const lines = await linesOf(inTerminal(["endpoints", "list"], { columns: 80 }));
    expect(lines[1]).toMatch(/ https:\/\/\S+…\S+\/billing /);
    expect(lines[2]).toMatch(/ https:\/\/\S+…\S*\/stock /);
  });

  it("is a sentence if it is empty", async () => {
    expect(await linesOf(inTerminal(["payments", "list"]))).toEqual(["No payments."]);
  });
});

describe("an error", () => {
  it("has one sentence of a long hint on each line", async () => {
    const failed = inTerminal(["serve", "--ephemeral", "--host", "0.0.0.0"], { columns: 80 });
    expect(await failed.ended).toBe(2);
    expect(failed.text().trimEnd().split("\n").slice(-2)).toEqual([
      "Use a TLS proxy and pass its URL: --public-url https://api.example.com.",
      "To allow plain http, pass --insecure.",
    ]);
  });
});

describe("one object", () => {
  it("has one line per field, with aligned labels", async () => {
    const lines = await linesOf(inTerminal(["customers", "get", ada]));
    expect(lines.slice(0, 5)).toEqual([
      `ID           ${ada}`,
      "Email        ada.lovelace@example.com",
      `Name         ${NAME}`,
      "Phone        –",
      "Metadata     plan=pro",
    ]);
  });

  it("is reported as missing without breaking words", async () => {
    const failed = inTerminal(["customers", "get", "cus_1"], { columns: 40 });
    expect(await failed.ended).toBe(3);
    expect(failed.text().split("\n").slice(0, 3)).toEqual([
      'Error: The customer "cus_1" does not',
      "exist. The ID of a customer is cus_ and",
      "22 letters or digits.",
    ]);
  });

  it("is reported in a warning without breaking words", async () => {
    const session = inTerminal(["listen", "--forward-to", "localhost#part", "--", process.execPath, "-e", ""], {
      columns: 40,
    });
    await session.ended;
    expect(session.text()).toContain("Warning: The part after # was removed:\nit is never sent.");
  });

  it("shows what was created, and what to do after a failure", async () => {
    const created = inTerminal(["customers", "create", "--email", "bob@example.com"]);
    expect((await linesOf(created))[0]).toMatch(/^✓ Created customer cus_\w{22}$/);
    const failed = inTerminal(["customers", "create", "--email", "bob@example.com"]);
    expect(await failed.ended).toBe(1);
    const [output, ...rest] = failed.text().trimEnd().split("\n");
    expect(output).toMatch(/^Error: The email bob@example\.com belongs to customer cus_\w{22}\.$/);
    expect(rest).toEqual([
      expect.stringMatching(/^ {2}409 email_taken, request req_\w{22}$/),
      expect.stringMatching(/^To see the existing customer: service customers get cus_\w{22}$/),
    ]);
  });
});

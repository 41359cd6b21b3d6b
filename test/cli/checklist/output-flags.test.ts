import { beforeAll, describe, expect, it } from "vitest";
import { kitPlatform } from "../../testing/kit.ts";
import { COMMANDS } from "../../../src/cli/command-table.ts";
import type { CommandDefinition } from "../../../src/cli/command.ts";
import { type CliResult, runCli } from "../../support/run-cli.ts";

const platform = kitPlatform();
const service = (...args: string[]): Promise<CliResult> => runCli(args, { env: platform.env });
const idOf = async (...args: string[]): Promise<string> => (await service(...args, "--jq", ".id")).stdout.trim();

/** Every command that can be run, with its words: `customers list`. */
const all: readonly [path: string, definition: CommandDefinition][] = (
  await Promise.all(COMMANDS.map(async ({ load }) => runnable((await load()).command)))
).flat();

function runnable(definition: CommandDefinition, above = ""): [string, CommandDefinition][] {
  const path = above + definition.name;
  const own: [string, CommandDefinition][] = definition.run === undefined ? [] : [[path, definition]];
  return [...own, ...(definition.commands ?? []).flatMap((child) => runnable(child, `${path} `))];
}

let customers = 0;
const newEmail = () => `ada${(customers += 1)}@example.com`;
const customer = () => idOf("customers", "create", "--email", newEmail());
const order = () => idOf("orders", "create", "--amount", "5", "--currency", "EUR");
const payment = () => idOf("payments", "create", "--amount", "5", "--currency", "EUR");
const endpoint = () => idOf("endpoints", "create", "--url", "https://example.com", "--events", "payment.failed");
const key = () => idOf("keys", "create", "--name", "ci", "--scope", "customers:read");
const app = () => idOf("apps", "create", "--name", "shop", "--redirect-uri", "https://example.com/callback");
const fault = () => idOf("faults", "add", "GET /v1/payments/{id}", "--status", "503");

async function snapshot(): Promise<string> {
  await service("sandbox", "save", "full");
  return "full";
}

/** A pending delivery, which nothing attempts. */
async function delivery(): Promise<string> {
  const id = await endpoint();
  await service("endpoints", "ping", id);
  return (await service("deliveries", "list", "--endpoint", id, "-q")).stdout.trim();
}

/** The arguments of each command that changes something at the platform. */
const CHANGES: Readonly<Record<string, () => string[] | Promise<string[]>>> = {
  "customers create": () => ["--email", newEmail()],
  "customers update": async () => [await customer(), "--name", "Ada"],
  "customers delete": async () => [await customer()],
  "orders create": () => ["--amount", "5", "--currency", "EUR"],
  "orders complete": async () => [await order()],
  "orders cancel": async () => [await order()],
  "payments create": () => ["--amount", "5", "--currency", "EUR"],
  "payments succeed": async () => [await payment()],
  "payments fail": async () => [await payment()],
  "endpoints create": () => ["--url", "https://example.com", "--events", "*"],
  "endpoints update": async () => [await endpoint(), "--description", "x"],
  "endpoints enable": async () => [await endpoint()],
  "endpoints disable": async () => [await endpoint()],
  "endpoints rotate-secret": async () => [await endpoint()],
  "endpoints ping": async () => [await endpoint()],
  "endpoints delete": async () => [await endpoint()],
  "deliveries retry": async () => [await delivery()],
  "deliveries cancel": async () => [await delivery()],
  trigger: () => ["order.completed"],
  "events replay": async () => [await idOf("trigger", "order.created")],
  "clock advance": () => ["1s"],
  "sandbox save": () => ["empty"],
  "sandbox restore": async () => [await snapshot()],
  "sandbox delete": async () => [await snapshot()],
  "sandbox reset": () => [],
  "faults add": () => ["GET /v1/payments/{id}", "--status", "503"],
  "faults remove": async () => [await fault()],
  "faults clear": () => [],
  "keys create": () => ["--name", "ci", "--scope", "customers:read"],
  "keys update": async () => [await key(), "--name", "cd"],
  "keys revoke": async () => [await key()],
  "keys rotate": async () => [await key()],
  "apps create": () => ["--name", "shop", "--redirect-uri", "https://example.com/callback"],
  "apps update": async () => [await app(), "--name", "store"],
  "apps delete": async () => [await app()],
  "apps rotate-secret": async () => [await app()],
  api: () => ["POST", "/v1/orders", "-f", "amount=5", "-f", "currency=EUR"],
};

describe("a command that has changed something", () => {
  it("has an entry in the table of this test", () => {
    const changing = all
      .filter(([path, { dryRun }]) => dryRun === true && path !== "webhooks send")
      .map(([path]) => path);
    expect(Object.keys(CHANGES).sort()).toEqual(changing.sort());
  });

  it.each(Object.entries(CHANGES))("%s exits with 1 if --jq fails, and says what succeeded", async (path, argsOf) => {
    const args = [...path.split(" "), ...(await argsOf())];
    const { exitCode, stdout, stderr } = await service(...args, "--jq", '.id | error("no")');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^Error: --jq \.id \| error\("no"\): no\n(The request|These requests) succeeded: \S+/);
  });

  it.each([".email", ".data[].email", ".data[0].email"])(
    "suggests to apply --jq %s to each item of a list",
    async (jq) => {
      await service("customers", "create", "--email", newEmail());
      const { exitCode, stderr } = await service("customers", "list", "--jq", jq);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("The output is an array. For each of its items: --jq '.[].email'");
    },
  );

  it("applies --jq to each of 350 objects of a stream, and to their list", async () => {
    const { stdout } = await service("trigger", "customer.created", "--count", "350", "--json", "--jq", ".id");
    const ids = stdout.trimEnd().split("\n");
    expect(ids).toHaveLength(350);
    const list = await service(
      "events",
      "list",
      "--limit",
      "350",
      "--type",
      "customer.created",
      "--json",
      "--jq",
      ".[].id",
    );
    expect(list.stdout.trimEnd().split("\n").sort()).toEqual(ids.sort());
  });

  it("prints no part of the output if --jq fails", async () => {
    const { exitCode, stdout, stderr } = await service("customers", "list", "--jq", '"a", error("no")');
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: 'Error: --jq "a", error("no"): no\n',
    });
  });

  it("names the object in the error of --json", async () => {
    const args = ["customers", "create", "--email", newEmail(), "--json", "--jq", ".id | tonumber"];
    const { exitCode, stderr } = await service(...args);
    const problem = JSON.parse(stderr) as { code: string; hint: string };
    expect({ exitCode, code: problem.code }).toEqual({ exitCode: 1, code: "request_succeeded" });
    const [id = ""] = /cus_\w+$/.exec(problem.hint) ?? [];
    expect((await service("customers", "get", id)).exitCode).toBe(0);
  });
});

describe("service api", () => {
  it("rejects an unknown field before it changes anything", async () => {
    const { exitCode, stdout, stderr } = await service("api", "POST", "/v1/orders", "-f", "amount=7", "--fields", "no");
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining('The response has no field "no"\nFields: id, object, amount,'),
    });
  });
});

describe("--quiet", () => {
  const lists = [...all.map(([path]) => path).filter((path) => path.endsWith(" list")), "trigger --list"];

  beforeAll(async () => {
    for (const create of [customer, order, payment, delivery, key, app, snapshot]) await create();
    await fault();
  });

  it.each(lists)("prints the ID or name of each item of %s", async (path) => {
    const args = path.split(" ");
    const listed = await service(...args, "--json");
    expect(listed).toMatchObject({ exitCode: 0 });
    const items = JSON.parse(listed.stdout) as Record<string, string>[];
    const { exitCode, stdout } = await service(...args, "-q");
    const ids = items.map(({ id, name, key, type }) => `${id ?? name ?? key ?? type}\n`);
    // The requests of this test are in the log.
    if (path === "logs list") expect(stdout).toContain(ids[0]);
    else expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: ids.join("") });
  });

  it("prints the failed checks only", async () => {
    const { stdout } = await runCli(["doctor", "-q"], { env: { SERVICE_BASE_URL: "http://127.0.0.1:1" } });
    expect(stdout).toBe("platform\ncredential\n");
  });
});

/** Arguments that each command accepts as far as it checks them before it begins. */
const OPERANDS: Readonly<Record<string, string>> = {
  "<id>": "cus_1",
  "<duration>": "1s",
  "<event type>": "order.created",
  "<request>": "GET /v1/customers",
};
const commandLines = all
  .filter(([path]) => path !== "api")
  .map(([path, { args = [] }]): [string, string[]] => {
    const required = args.filter(({ arg }) => arg.startsWith("<"));
    return [path, [...path.split(" "), ...required.map(({ arg }) => OPERANDS[arg] ?? "x")]];
  });

it("--jq warns of a field that the object does not have", async () => {
  const { exitCode, stdout, stderr } = await service("keys", "create", "--full-access", "--json", "--jq", ".secret");
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "null\n" });
  expect(JSON.parse(stderr).warning).toMatch(/^--jq \.secret: there is no field "secret"\. Fields: .*\bkey\b/);
});

describe("a command rejects before it begins", () => {
  const usage = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await runCli(args, { env: { SERVICE_BASE_URL: "http://127.0.0.1:1" } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    return stderr;
  };

  it.each(commandLines)("an unknown field: %s", async (path, words) => {
    const stderr = await usage(...words, "--fields", "nope");
    if (!stderr.includes(`\`service ${path}\` does not support --fields`)) {
      expect(stderr).toMatch(/^Error: An? [\w ]+ has no field "nope"\nFields: /);
    }
  });

  it.each(commandLines)("an invalid --jq: %s", async (path, words) => {
    const stderr = await usage(...words, "--jq", ".[");
    if (!stderr.includes(`\`service ${path}\` does not support --jq`)) expect(stderr).toMatch(/^Error: --jq \.\[: /);
  });
});

const CLIENT = `
  const { SERVICE_BASE_URL: url, SERVICE_API_KEY: key } = process.env;
  fetch(url + "/v1/me", { headers: { Authorization: "Bearer " + key } }).catch(() => {});
`;

describe("--fields", () => {
  it.each([
    [["whoami", "--fields", "environment,profile"], "environment\tsandbox\nprofile\tdefault\n"],
    [
      ["trigger", "order.created", "--fields", "type,data.object.amount"],
      "type\torder.created\ndata.object.amount\t1999\n",
    ],
    [["trigger", "order.created", "--count", "2", "--fields", "type"], "order.created\norder.created\n"],
    [["trigger", "order.created", "--fields", "type", "--json"], '{"type":"order.created"}\n'],
  ])("selects the output of %j", async (args, expected) => {
    expect((await service(...args)).stdout).toBe(expected);
  });

  it("selects bare values, which a script can use", async () => {
    const { stdout } = await service("whoami", "--fields", "base_url", "--base-url", platform.baseUrl);
    expect(stdout).toBe(`base_url\t${platform.baseUrl}\n`);
  });

  it("selects the output of why", async () => {
    const id = await idOf("trigger", "order.created");
    expect((await service("why", id, "--fields", "cause,kind")).stdout).toMatch(/^cause\t\w+\nkind\tevent\n$/);
  });

  it("selects the report of a check", async () => {
    const program = [process.execPath, "-e", CLIENT];
    const { stdout } = await service("faults", "check", "--runs", "1", "--fields", "object,runs", "--", ...program);
    expect(stdout).toBe("object\tclient_check\nruns\t1\n");
  });
});

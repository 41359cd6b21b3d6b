import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { BIN, type CliOptions, runCli, spawnCli } from "../support/run-cli.ts";
import { withCommandName } from "../../src/cli/process-io.ts";
import { startAnyReceiver } from "./support/any-receiver.ts";

const usage = async (...args: string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await runCli(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  return stderr;
};

describe("the usage line of a command", () => {
  it("shows required flags", async () => {
    const { stdout } = await runCli(["orders", "create", "--help"]);
    expect(stdout).toContain("  service orders create --amount <number> --currency <code> [options]\n");
  });
});

describe("single quotes that cmd.exe does not remove", () => {
  it.each([
    [["listen", "--events", "'order.*'"]],
    [["listen", "--events='order.*'"]],
    [["listen", "--route", "'order.*=localhost:3000'"]],
    [["listen", "--forward-to", "'localhost:3000'"]],
    [["listen", "--forward-to", "'localhost:3000/webhooks'"]],
    [["expect", "order.completed", "--where", "'data.object.amount=500'"]],
    [["customers", "list", "--jq", "'.[].email'"]],
    // cmd.exe takes what follows as another program.
    [["customers", "list", "--jq", "'.[]"]],
  ])("are reported as the cause of the error: %j", async (args) => {
    const { exitCode, stderr } = await runCli(args, { env: { SERVICE_API_KEY: "sk_sandbox_x" } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("An argument begins with a single quote, which cmd.exe does not remove.");
  });

  it("are not reported if they belong to the command after --", async () => {
    expect(await usage("listen", "--events", "nothing", "--", "echo", "'a'")).not.toContain("cmd.exe");
  });
});

describe("a usage error exits with 2 and suggests the intended word", () => {
  it.each([
    [["custmers"], 'Error: Unknown command "custmers"\nDid you mean customers?\nSee `service --help`.\n'],
    [["docs"], 'Error: Unknown command "docs"\nDid you mean open docs?\nSee `service --help`.\n'],
    [["init"], 'Error: Unknown command "init"\nDid you mean dev init?\nSee `service --help`.\n'],
    [["refunds"], 'Error: Unknown command "refunds"\nSee `service --help`.\n'],
    [
      ["retry"],
      'Error: Unknown command "retry"\nDid you mean deliveries retry or events replay?\nSee `service --help`.\n',
    ],
    [
      ["sandbox", "advance"],
      'Error: Unknown command "advance"\nDid you mean clock advance?\nSee `service sandbox --help`.\n',
    ],
    [["logs", "--tail"], 'Error: Unknown option "--tail"\nDid you mean logs tail?\nSee `service logs --help`.\n'],
    [
      ["api", "/v1/orders", "-d", "a=1"],
      'Error: Unknown option "-d"\nDid you mean -f or --input?\nSee `service api --help`.\n',
    ],
    [["customers", "lst"], 'Error: Unknown command "lst"\nDid you mean list?\nSee `service customers --help`.\n'],
    [
      ["customers", "list", "--emial", "x"],
      'Error: Unknown option "--emial"\nDid you mean --email?\nSee `service customers list --help`.\n',
    ],
    [
      ["customers", "list", "--output", "json"],
      'Error: Unknown option "--output"\nDid you mean --json?\nSee `service customers list --help`.\n',
    ],
    [
      ["customers", "list", "--colour"],
      'Error: Unknown option "--colour"\nDid you mean --no-color?\nSee `service customers list --help`.\n',
    ],
    [
      ["help", "nope"],
      'Error: Unknown command or topic "nope"\nTo list them: service --help\nTopics: authentication, environment, exit-codes, formatting, project-file, webhooks\n',
    ],
    [
      ["login", "--scope", "xyzzy"],
      expect.stringMatching(
        /^Error: --scope: "xyzzy" is not a scope\. Add :read or :write to customers, orders, .*, or pass listen:read/,
      ) as string,
    ],
    [["--jsn"], 'Error: Unknown option "--jsn"\nDid you mean --json?\nSee `service --help`.\n'],
    [
      ["customers", "create"],
      "Error: --email is required\nFor example: service customers create --email ada@example.com --name 'Ada Lovelace'\nSee `service customers create --help`.\n",
    ],
    [["customers", "create", "--email"], "Error: --email needs a value\nSee `service customers create --help`.\n"],
    [["--profile"], "Error: --profile needs a value\nSee `service --help`.\n"],
    [
      ["clock", "advance", "-1h"],
      'Error: duration: must be positive, not "-1h"\nSee `service clock advance --help`.\n',
    ],
    [
      ["expect", "order.completed", "--timeout", "2s"],
      'Error: Unknown option "--timeout"\nDid you mean --within?\nSee `service expect --help`.\n',
    ],
    [
      ["trigger", "payment.failed", "--failure-code", "expired_card"],
      'Error: Unknown option "--failure-code"\nDid you mean --override failure_code=VALUE?\nSee `service trigger --help`.\n',
    ],
    [
      ["orders", "delete", "ord_1"],
      'Error: Unknown command "delete"\nDid you mean orders cancel?\nSee `service orders --help`.\n',
    ],
    [["clock", "reset"], 'Error: Unknown command "reset"\nDid you mean sandbox reset?\nSee `service clock --help`.\n'],
    [
      ["webhooks", "sign", "p.json"],
      'Error: Unexpected argument "p.json": `service webhooks sign` takes no arguments\nTo pass a payload: --payload p.json\nSee `service webhooks sign --help`.\n',
    ],
    [
      ["customers", "list", "--jq", ".["],
      "Error: --jq .[: syntax error, unexpected end of file at line 1, column 2\nSee `service customers list --help`.\n",
    ],
    [
      ["customers", "get"],
      "Error: Pass the ID of the customer\nTo list them: service customers list\nSee `service customers get --help`.\n",
    ],
    [
      ["customers", "list", "extra"],
      'Error: Unexpected argument "extra": `service customers list` takes no arguments\nTo search: --query extra\nSee `service customers list --help`.\n',
    ],
  ])("service %j", async (args, expected) => {
    expect(await usage(...args)).toEqual(expected);
  });

  it.each([
    [["orders", "create"], "--amount and --currency are required"],
    [["customers", "list", "--fields", ""], "must be one or more field names, separated by commas"],
    [["login", "--scope", ""], "must be one or more scopes, such as customers:read"],
    [["endpoints", "create", "--url", "https://example.com", "--events", "*,!order.created"], "cannot exclude types"],
    [["listen", "--events", ""], '"" is not an event type'],
    [["listen", "--events", "order.complete"], '"order.complete" is not an event type. Did you mean order.completed'],
    [["listen", "--record", ""], "must be a file name"],
    [["help", "webhoks"], "Did you mean webhooks?"],
    [["help", "customers", "nope"], "To list them: service customers --help"],
    [["customers", "create", "--email", "a@example.com", "--metadata", "plan"], '"plan" is not in the form key=value'],
    [["customers", "create", "--email", "a@example.com", "--metadata", "=pro"], '"=pro" is not in the form key=value'],
    [
      ["customers", "create", "--email", "a@example.com", "--metadata", "a=1", "--metadata", "a=2"],
      '--metadata: "a" is repeated',
    ],
    [["customers", "list", "--limit", "0"], "must be at least 1"],
    [
      ["serve", "--request-timeout", "20x"],
      '--request-timeout: must be a number of seconds or a duration, such as 5 or 5s, not "20x"',
    ],
    [["serve", "--request-timeout", "20s", "--port", "x"], "--port: must be a whole number"],
    [["listen", "--timeout", "5", "--retries", "x"], "--retries: must be a whole number"],
    [["webhooks", "verify", "--tolerance", "5m", "--now", "x"], "--now: must be a whole number"],
    [["customers", "list", "--limit", "ten"], '--limit: must be a whole number, not "ten"'],
    [["customers", "list", "--limit", "1.5"], "must be a whole number"],
    [["customers", "list", "--limit", "3", "--all"], "--all cannot be combined with --limit"],
    [["customers", "list", "--created-after", "yesterday"], "must be a time such as 2026-11-01T12:00:00Z"],
    [["customers", "list", "--created-after", "99999999999999d"], "must be a time such as 2026-11-01T12:00:00Z"],
    [["customers", "list", "--created-after", "2026-02-30"], "must be a time such as 2026-11-01T12:00:00Z"],
    [["orders", "list", "--status", "done"], '--status: "done" is not one of pending, completed, canceled'],
    [["orders", "list", "--status", "complete"], "\nDid you mean completed?\n"],
    [["webhooks", "send", "localhost:3000", "--scheme", "strpe"], "Did you mean stripe?"],
    [["logs", "--limit", "3"], "\nDid you mean logs list --limit?\n"],
    [["endpoints", "test", "we_1"], "\nDid you mean endpoints ping?\n"],
    [["endpoints", "update", "we_1", "--disable"], "\nDid you mean endpoints disable?\n"],
    [["payments", "fail", "pay_1", "--code", "x"], "\nDid you mean --failure-code?\n"],
    [["get", "/v1/orders"], "\nDid you mean api GET?\n"],
    [["ls"], "\nDid you mean orders list or events list?\n"],
    [["exit-codes"], "\nDid you mean help exit-codes?\n"],
    [
      ["expect"],
      "Error: Pass the type of the event, such as order.completed\nFor example: service expect order.completed",
    ],
    [["open", "docs", "nope"], "Guides: "],
    [["orders", "create", "--currency", "EUR", "--amount", "-5"], "must be at least 0"],
    [["orders", "create", "--currency", "EUR", "--amount", "9007199254740993"], "must be a whole number"],
    [["orders", "create", "--currency", "EUR", "--amount", "12.50"], "minor unit: 1999 for 19.99 EUR"],
    [["customers", "get", "../v1/orders"], "must be an ID such as cus_"],
    [["customers", "get", ""], "must be an ID such as cus_"],
    [["trigger", "order.complete"], 'Unknown event type "order.complete"\nDid you mean order.completed?'],
    [["trigger"], "No event type specified"],
    [["trigger", "order.completed", "--live"], "in the sandbox only"],
    [["api", "GET"], "Error: Pass the path\nFor example: service api GET /v1/customers"],
    [["api", "FETCH", "/v1/me"], "Must be one of GET, POST, PATCH, PUT, DELETE."],
    [["api", "GET", "https://example.com/v1/me"], "Pass a path such as /v1/customers"],
    [["api", "GET", "//example.com/v1/me"], "Pass a path such as /v1/customers"],
    [["api", "POST", "/v1/orders", "--input", "x", "-f", "a=b"], "cannot be combined with"],
    [["api", "GET", "/v1/orders", "-f", "limit=1", "-f", "limit=2"], '--field: "limit" is repeated'],
    [["whoami", "--profile", ""], "must not be empty"],
    [["whoami", "--base-url", ""], "must not be empty"],
    [["listen", "--json", "--jq", ".id"], "`service listen` does not support --jq"],
    [["serve", "--json", "--fields", "event"], "`service serve` does not support --fields"],
    [["customers", "list", "--profile", "../x"], 'Invalid profile name "../x"'],
  ])("service %j", async (args, reason) => {
    expect(await usage(...args)).toContain(reason);
  });

  it("prints it as problem details with --json in any position", async () => {
    for (const args of [
      ["customers", "list", "--json", "--limit", "0"],
      ["--json", "customers", "list", "--limit", "0"],
    ]) {
      expect(JSON.parse(await usage(...args))).toEqual({
        type: "about:blank",
        title: "Usage",
        detail: '--limit: must be at least 1, not "0"',
        hint: "See `service customers list --help`.",
        code: "usage",
        exit_code: 2,
      });
    }
  });

  it("accepts a value that begins with a dash after =", async () => {
    const { stderr } = await runCli(["customers", "list", "--email=-x@example.com"]);
    expect(stderr).toContain("Not signed in");
  });
});

describe("commands to copy", () => {
  /** A shell in which `service` is another program, as on Debian. */
  function shell(links: Readonly<Record<string, string>> = {}): { env: Record<string, string>; cwd: string } {
    const folder = mkdtempSync(join(tmpdir(), "service-shell-"));
    const bin = join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "service"), "#!/bin/sh\n", { mode: 0o755 });
    for (const [name, target] of Object.entries(links)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      symlinkSync(target, join(folder, name));
    }
    return { cwd: folder, env: { PATH: bin } };
  }
  const hint = async (options: CliOptions): Promise<string> => (await spawnCli(["whoami"], options)).stderr;

  it("begin with service-cli if service is another program", async () => {
    expect(await hint(shell({ "bin/service-cli": BIN }))).toContain("Sign in with `service-cli login`");
  });

  it("begin with npx in a project that depends on the package, and in its folders", async () => {
    const { cwd, env } = shell({ "node_modules/service-cli": dirname(dirname(BIN)) });
    mkdirSync(join(cwd, "src"));
    expect(await hint({ cwd: join(cwd, "src"), env })).toContain("Sign in with `npx service-cli login`");
    const { stdout } = await spawnCli(["clock", "advance", "--help"], { cwd, env });
    expect(stdout).toContain("$ npx service-cli clock advance 3d");
    const capture = await spawnCli(["webhooks", "capture", "--help"], { cwd, env });
    expect(capture.stdout.replaceAll(/\s+/g, " ")).toContain("for `npx service-cli webhooks replay`");
    const replay = await spawnCli(["webhooks", "replay", "--help"], { cwd, env });
    expect(replay.stdout.replaceAll(/\s+/g, " ")).toContain(
      "of `npx service-cli webhooks capture` or `npx service-cli listen`",
    );
    const receiver = await startAnyReceiver((response) => response.writeHead(400).end());
    const send = await spawnCli(["webhooks", "send", receiver.url, "--secret", "s"], { cwd, env });
    expect(send.stdout).toContain("To find the mistake: npx service-cli webhooks check");
  });

  it("begin with that name in color and in tables in a pipe, too", async () => {
    const { cwd, env } = shell({ "node_modules/service-cli": dirname(dirname(BIN)) });
    const { stdout } = await spawnCli(["doctor"], { cwd, env });
    expect(stdout).toContain("npx service-cli login");
    expect(withCommandName("\u001B[36mservice events list\u001B[39m", "npx service-cli", ["events"])).toBe(
      "\u001B[36mnpx service-cli events list\u001B[39m",
    );
  });

  it("are the same in the synopsis of the whole program", () => {
    expect(withCommandName("service [options] [command]", "npx service-cli", ["events"])).toBe(
      "npx service-cli [options] [command]",
    );
  });

  it("begin with npx if npx started the command", async () => {
    const { cwd, env } = shell();
    expect(await hint({ cwd, env: { ...env, npm_command: "exec" } })).toContain("`npx service-cli login`");
  });

  it("begin with the path of the CLI elsewhere", async () => {
    expect(await hint(shell())).toContain(`Sign in with \`node ${BIN} login\``);
  });

  it("are the same with --json", async () => {
    const { cwd, env } = shell({ "node_modules/service-cli": dirname(dirname(BIN)) });
    const hintOf = async (...args: string[]): Promise<unknown> =>
      (JSON.parse((await spawnCli([...args, "--json"], { cwd, env })).stderr) as { hint: unknown }).hint;
    expect(await hintOf("whoami")).toContain("`npx service-cli login`");
    expect(await hintOf("customers", "list", "--nope")).toContain("See `npx service-cli customers list --help`");
  });
});

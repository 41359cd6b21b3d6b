import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../client/support/scripted-server.ts";
import { kitPlatform } from "../../testing/kit.ts";
import { BIN, cliEnv, createConfigDir, runCli, spawnCli } from "../../support/run-cli.ts";

const platform = kitPlatform();
let customer: string;

beforeAll(async () => {
  const { stdout } = await runCli(["customers", "create", "--email", "ada@example.com", "-q"], { env: platform.env });
  customer = stdout.trim();
});

interface Respond {
  values: string[];
  directive: number;
}

/** The command line of a completion script, with the expected values (without descriptions) and directives. */
async function complete(message: readonly string[], env: Record<string, string> = {}): Promise<Respond> {
  const { exitCode, stdout, stderr } = await runCli(["complete", "--", ...message], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  const directive = Number(/^:(\d+)$/.exec(lines.pop()!)![1]);
  return { values: lines.map((line) => line.split("\t")[0]!), directive };
}

describe("suggestions", () => {
  const NO_FILES = 4;
  const NO_SPACE = 2;

  it.each<[string[], string[]]>([
    [["custo"], ["customers"]],
    [["customers", "l"], ["list"]],
    [["--json", "orders", "com"], ["complete"]],
    [["customers", "list", "--lim"], ["--limit"]],
    [["customers", "list", "--limit", "3", "--li"], ["--live"]],
    [["customers", "list", "--prof"], ["--profile"]],
    [["customers", "create", "--dr"], ["--dry-run"]],
    [
      ["webhooks", "check", "--scheme", "st"],
      ["standard", "stripe"],
    ],
    [["clock", "can"], ["cancel"]],
    [
      ["orders", "list", "--status", ""],
      ["pending", "completed", "canceled"],
    ],
    [
      ["orders", "list", "--status=c"],
      ["completed", "canceled"],
    ],
    [
      ["trigger", "order.c"],
      ["order.created", "order.completed", "order.canceled"],
    ],
    [["events", "list", "--type", "payment.s"], ["payment.succeeded"]],
    [["config", "get", "b"], ["base_url"]],
    [
      ["config", "set", "update_notices", ""],
      ["true", "false"],
    ],
    [["help", "env"], ["environment"]],
    [["help", "orders", "can"], ["cancel"]],
    [
      ["open", "d"],
      ["dashboard", "docs"],
    ],
    [
      ["api", "P"],
      ["POST", "PATCH", "PUT"],
    ],
    [["completion", "z"], ["zsh"]],
    [["compl"], ["completion"]],
    [["customers", "list", "extra", ""], []],
    [["nonsense", ""], []],
  ])("after %j are %j", async (message, values) => {
    expect(await complete(message)).toEqual({ values, directive: NO_FILES });
  });

  it.each<[string[], string[]]>([
    [["listen", "--events", "order.created,payment.s"], ["order.created,payment.succeeded"]],
    [["customers", "list", "--fields", "id,em"], ["id,email"]],
    [
      ["keys", "create", "--scope", "customers:"],
      ["customers:read", "customers:write"],
    ],
  ])("continue after a comma: after %j are %j", async (message, values) => {
    expect(await complete(message)).toEqual({ values, directive: NO_FILES + NO_SPACE });
  });

  it.each([
    [["webhooks", "verify", "--payload", ""]],
    [["api", "POST", "/v1/orders", "--input="]],
    [["listen", "--forward-to", "localhost:3000", "--", ""]],
  ])("leave file names to the shell: %j", async (message) => {
    expect(await complete(message)).toEqual({ values: [], directive: 0 });
  });

  it.each([
    [["customers", "create", "--email", "a", "--metadata", "a=1", "--"], "--email", "--metadata"],
    [["endpoints", "create", "--url", "a", "--header", "a: 1", "--"], "--url", "--header"],
  ])("offer repeatable flags again, but not other flags: %j", async (words, single, repeatable) => {
    const { values } = await complete(words);
    expect(values).not.toContain(single);
    expect(values).toContain(repeatable);
    expect(values).not.toContain("--complete");
  });

  it("have descriptions of commands", async () => {
    const { stdout } = await runCli(["complete", "--", "custo"]);
    expect(stdout).toBe("customers\tCreate, find, update and delete customers\n:4\n");
  });

  it("include the profiles", async () => {
    const folder = createConfigDir();
    const address = "http://127.0.0.1:9";
    const profiles = { shop: { base_url: address, auth_url: address, credentials: {} } };
    writeFileSync(join(folder, "config.json"), JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
    const env = { SERVICE_CONFIG_DIR: folder };
    expect((await complete(["profiles", "use", ""], env)).values).toEqual(["shop"]);
    expect((await complete(["whoami", "--profile", "s"], env)).values).toEqual(["shop"]);
  });

  it("include IDs for arguments and flags", async () => {
    expect((await complete(["customers", "get", "cus_"], platform.env)).values).toEqual([customer]);
    expect((await complete(["orders", "create", "--customer", ""], platform.env)).values).toEqual([customer]);
    expect((await complete(["why", "cu"], platform.env)).values).toEqual([customer]);
    expect((await complete(["why", ""], platform.env)).values).toEqual([expect.stringMatching(/^evt_/)]);
    expect((await complete(["logs", "get", "req_"], platform.env)).values).toContainEqual(
      expect.stringMatching(/^req_/),
    );
    const { SERVICE_BASE_URL: baseUrl, ...rest } = platform.env;
    expect((await complete(["customers", "--base-url", baseUrl!, "get", ""], rest)).values).toEqual([customer]);
  });

  it("are empty if IDs cannot be loaded quickly", async () => {
    const silent = await listen(createServer(() => {}));
    const nothing = { values: [], directive: NO_FILES };
    expect(await complete(["customers", "get", ""])).toEqual(nothing);
    expect(await complete(["customers", "get", ""], { SERVICE_API_KEY: "sk_sandbox_x" })).toEqual(nothing);
    expect(
      await complete(["customers", "get", ""], { SERVICE_API_KEY: "sk_sandbox_x", SERVICE_BASE_URL: silent }),
    ).toEqual(nothing);
  });
});

describe("completion scripts", () => {
  it.each([
    ["bash", "complete -o default -F _service_completion service"],
    ["zsh", "#compdef service"],
    ["fish", "complete -c service"],
    ["powershell", "Register-ArgumentCompleter -Native -CommandName 'service'"],
  ])("for %s call the CLI", async (shell, registration) => {
    const { exitCode, stdout, stderr } = await spawnCli(["completion", shell]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(registration);
    expect(stdout).toMatch(/complete '?--'?/);
  });

  it.each(["bash", "zsh", "fish", "powershell"])("for %s do not evaluate typed text", async (shell) => {
    expect((await spawnCli(["completion", shell])).stdout).not.toMatch(/^[^#]*\b(eval|Invoke-Expression|iex)\b/im);
  });

  it.each(["bash", "zsh", "fish", "powershell"])("for %s of service-cli leaves `service` alone", async (shell) => {
    const link = join(createConfigDir(), "service-cli");
    symlinkSync(BIN, link);
    const { stdout } = spawnSync(process.execPath, [link, "completion", shell], { env: cliEnv(), encoding: "utf8" });
    const registrations = stdout.split("\n").filter((line) => /^(complete|  compdef|#compdef|Register)/.test(line));
    expect(registrations.length).toBeGreaterThan(0);
    for (const line of registrations) expect(line.replaceAll("service-cli", "")).not.toMatch(/(?<!_)\bservice\b/);
  });

  it("exist for no other shell", async () => {
    const { exitCode, stderr } = await runCli(["completion", "tcsh"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("bash, zsh, fish, powershell");
    expect(await runCli(["completion"], { env: { SHELL: "/bin/tcsh" } })).toMatchObject({ exitCode: 2, stdout: "" });
    const ofUser = await runCli(["completion"], { env: { SHELL: "/usr/bin/fish" } });
    expect(ofUser.stdout).toContain("complete -c service");
  });
});

describe("completion in a real bash", () => {
  /** Types into an interactive bash, presses Tab, and returns the resulting command line. */
  async function typed(text: string, expected: string, env: Record<string, string> = {}): Promise<void> {
    const bin = join(createConfigDir(), "bin");
    mkdirSync(bin);
    const command = join(bin, "service");
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
    chmodSync(command, 0o755);
    const shell = spawn("bash", ["--norc", "--noprofile", "-i"], {
      cols: 200,
      rows: 40,
      cwd: bin,
      env: { ...cliEnv({ ...env, PATH: `${bin}:${process.env["PATH"]}` }), PS1: "> ", TERM: "dumb" },
    });
    let screen = "";
    const ended = new Promise<void>((resolve) => shell.onExit(() => resolve()));
    try {
      await new Promise<void>((resolve, reject) => {
        let step = 0;
        shell.onData((data) => {
          screen += data;
          if (step === 0 && screen.includes("> ")) {
            step = 1;
            shell.write("source <(service completion bash); echo rea''dy\r");
          } else if (step === 1 && /^ready\r?\n/m.test(screen)) {
            step = 2;
            screen = "";
            shell.write(`${text}\t`);
          } else if (step === 2 && screen.replaceAll(/[\r\u0007]/g, "").includes(expected)) {
            resolve();
          }
        });
        void ended.then(() => reject(new Error(`bash ended:\n${screen}`)));
      });
    } finally {
      shell.kill("SIGKILL");
      await ended;
      // None of the typed text is executed.
      expect(readdirSync(bin)).toEqual(["service"]);
    }
  }

  it.each([
    ["service custo", "service customers "],
    ["service customers li", "service customers list "],
    ["service customers list --lim", "service customers list --limit "],
    ["service orders list --status pen", "service orders list --status pending "],
    ["service orders list --status=pen", "service orders list --status=pending "],
    ["service keys create --scope request_logs:r", "service keys create --scope request_logs:read"],
    ["service events list --type 'payment.su", "service events list --type 'payment.succeeded'"],
    ["service trigger order.com", "service trigger order.completed "],
    ["service webhooks verify --payload ser", "service webhooks verify --payload service "],
    ["service customers list --jq '$(touch evil)' --lim", "service customers list --jq '$(touch evil)' --limit "],
  ])("completes %j to %j", async (text, expected) => {
    await typed(text, expected);
  });

  it("completes the beginning of an ID to an existing ID", async () => {
    await typed("service customers get cus", `service customers get ${customer} `, platform.env);
  });
});

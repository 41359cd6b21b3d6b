import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/run-cli.ts";
import { runInTerminal } from "../../support/terminal.ts";

const { version, bugs } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
  bugs: { url: string };
};

describe("help", () => {
  it.each([[[]], [["help"]], [["-h"]], [["--help"]]])("service %j prints the CLI's help on stdout", async (args) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Build and test webhook integrations/);
    expect(stdout.indexOf("Examples")).toBeLessThan(stdout.indexOf("Usage"));
    for (const command of [
      "serve",
      "demo",
      "customers",
      "orders",
      "payments",
      "events",
      "listen",
      "trigger",
      "whoami",
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${command} +[A-Z]`, "m"));
    }
    expect(stdout).toContain("--json");
  });

  it.each([[["customers"]], [["customers", "--help"]], [["help", "customers"]]])(
    "service %j shows the group",
    async (args) => {
      const { exitCode, stdout, stderr } = await runCli(args);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toMatch(/^  create +Create a customer$/m);
      expect(stdout).toMatch(/^  list +List customers, newest first$/m);
    },
  );

  it.each([[["customers", "create", "-h"]], [["help", "customers", "create"]]])(
    "service %j shows the command",
    async (args) => {
      const { exitCode, stdout } = await runCli(args);
      expect(exitCode).toBe(0);
      expect(stdout).toContain("service customers create --email <address> [options]");
      expect(stdout).toContain("--email <address>");
      expect(stdout).toContain("$ service customers create --email ada@example.com");
    },
  );

  it.each(["environment", "exit-codes", "formatting", "webhooks"])("explains the topic %s", async (topic) => {
    const { exitCode, stdout } = await runCli(["help", topic]);
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeGreaterThan(300);
    const [, guide = ""] = /^Guide: service open docs (.*)$/m.exec(stdout)!;
    expect((await runCli(["open", "docs", guide, "--no-browser"])).exitCode).toBe(0);
  });

  it("lists the commands for webhooks of any provider under webhooks", async () => {
    const { stdout } = await runCli(["help", "webhooks"]);
    for (const command of ["check", "send", "capture", "replay"])
      expect(stdout).toContain(`service webhooks ${command} `);
    expect(stdout).toContain("--scheme stripe");
  });

  it("lists every exit code under exit-codes", async () => {
    const { stdout } = await runCli(["help", "exit-codes"]);
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(stdout).toMatch(new RegExp(`^ *${code} +[A-Z]`, "m"));
  });

  it("suggests a topic or command for an unknown one", async () => {
    expect(await runCli(["help", "enviroment"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: 'Error: Unknown command or topic "enviroment"\nDid you mean environment?\n',
    });
    expect(await runCli(["help", "customers", "craete"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Did you mean customers create?"),
    });
    expect(await runCli(["help", "opne"])).toMatchObject({ stderr: expect.stringContaining("Did you mean open?") });
    expect(await runCli(["help", "nope"])).toMatchObject({
      stderr: expect.stringContaining("To list them: service --help"),
    });
  });

  it("shows the help of a command whose first word is also a topic", async () => {
    const { exitCode, stdout } = await runCli(["help", "webhooks", "verify"]);
    expect([exitCode, stdout]).toEqual([0, (await runCli(["webhooks", "verify", "--help"])).stdout]);
  });

  it("keeps the lines of topics within 80 columns", async () => {
    for (const topic of ["environment", "exit-codes", "formatting", "webhooks"]) {
      const { stdout } = await runCli(["help", topic]);
      for (const line of stdout.split("\n"))
        if (!line.startsWith("Guide: ")) expect(line.length).toBeLessThanOrEqual(80);
    }
  });
});

const reference = readFileSync(new URL("../../../docs/commands.md", import.meta.url), "utf8");

/** Every command with its sections, as the command reference lists them. */
function allCommands(): string[][] {
  return [...reference.matchAll(/^#+ `?service ([a-z -]+?)`?$/gm)].map(([, message]) => message!.split(" "));
}

describe("every command", () => {
  it("uses -h only for help, is described in sentence case without a period, and fits 100 columns", async () => {
    const commands = allCommands();
    expect(commands.length).toBeGreaterThan(60);
    for (let i = 0; i < commands.length; i += 8) {
      const helps = await Promise.all(commands.slice(i, i + 8).map((message) => runCli([...message, "-h"])));
      for (const [j, { exitCode, stdout, stderr }] of helps.entries()) {
        const message = commands[i + j]!;
        expect({ words: message, exitCode, stderr }).toEqual({ words: message, exitCode: 0, stderr: "" });
        expect(stdout).toContain(`service ${message.join(" ")}`);
        for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
        const [, listed = ""] = /^Commands\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
        for (const line of listed.split("\n").filter((text) => /^ {2}\S/.test(text))) {
          expect(line).toMatch(/^ {2}[a-z-]+ {2,}[A-Z].*[^.]$/);
        }
      }
    }
  });

  it("does not redeclare a global flag", () => {
    const flagsIn = (text: string) => [...text.matchAll(/^\| `(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag!);
    const [, ofProgram = "", ofCommands = ""] = /^## Global flags$([^]*?)^## ([^]*)/m.exec(reference)!;
    const globalFlags = flagsIn(ofProgram);
    expect(globalFlags).toContain("--json");
    expect(flagsIn(ofCommands).length).toBeGreaterThan(200);
    expect(flagsIn(ofCommands).filter((flag) => globalFlags.includes(flag))).toEqual([]);
  });

  it("shows examples before usage, and root commands by group, starting with the first steps", async () => {
    const { stdout } = await runCli(["--help"]);
    const places = ["Examples", "Usage", "Get started", "Resources", "Events and webhooks", "Session", "More"].map(
      (title) => stdout.indexOf(`\n${title}\n`),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it("shows the command that opens the documentation, and the issue tracker once package.json has one", async () => {
    const { stdout } = await runCli(["--help"]);
    expect(stdout).toContain("service open docs");
    const urls = stdout.match(/https?:\/\/(?!localhost)\S+/g) ?? [];
    expect(urls).toEqual(bugs.url.includes("/OWNER/") ? [] : [bugs.url]);
  });

  it("is the same on a terminal except for color, and fits the width", async () => {
    const session = runInTerminal(["keys", "create", "--help"], { columns: 60 });
    expect(await session.ended).toBe(0);
    expect(session.output()).toContain("\u001b[1mExamples");
    expect(session.text()).toContain("--name worker \\\n      --scope");
    for (const line of session.text().split("\n")) expect(line.length, line).toBeLessThanOrEqual(60);
  });
});

describe("an unknown command or flag", () => {
  it.each([
    [["custmers"], "Did you mean customers?"],
    [["customers", "lst"], "Did you mean list?"],
    [["customers", "list", "--emial", "x"], "Did you mean --email?"],
    [["nope"], 'Error: Unknown command "nope"\nSee `service --help`.'],
  ])("is rejected with a suggestion, in a pipe and on a terminal: service %j", async (args, message) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(message);
    const session = runInTerminal(args);
    expect(await session.ended).toBe(2);
    expect(session.text()).toContain(message);
  });
});

describe("the version", () => {
  it.each([[["--version"]], [["-v"]], [["--json", "--version"]]])("service %j prints the version", async (args) => {
    expect(await runCli(args)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("prints the versions of the API and Node.js with service version", async () => {
    const { stdout } = await runCli(["version"]);
    expect(stdout).toBe(
      `service ${version} (API 2026-11-01, Node ${process.versions.node}, ${process.platform}-${process.arch})\n`,
    );
    expect(JSON.parse((await runCli(["version", "--json"])).stdout)).toEqual({
      version,
      api_version: "2026-11-01",
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    });
  });
});

describe("the modules that a command loads", () => {
  // Strings that only the server's packages contain.
  const SERVER = ["FST_ERR_", "PRAGMA journal_mode", "~kind"];

  async function loadedFiles(args: readonly string[]): Promise<string[]> {
    const folder = mkdtempSync(join(tmpdir(), "service-coverage-"));
    await runCli(args, { env: { NODE_V8_COVERAGE: folder } });
    const urls = readdirSync(folder)
      .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { result: { url: string }[] })
      .flatMap(({ result }) => result.map(({ url }) => url))
      .filter((url) => url.startsWith("file:") && url.includes("/dist/"));
    expect(urls).not.toEqual([]);
    return urls;
  }

  async function loadedCode(args: readonly string[]): Promise<string> {
    const urls = await loadedFiles(args);
    return urls.map((url) => readFileSync(fileURLToPath(url), "utf8")).join("\n");
  }

  it.each([[["--help"]], [["customers", "list", "--help"]], [["whoami"]], [["serve", "--help"]]])(
    "exclude the server for service %j",
    async (args) => {
      const code = await loadedCode(args);
      for (const word of SERVER) expect(code).not.toContain(word);
    },
  );

  it.each([[["--version"]], [["--help"]], [["customers", "list", "--help"]]])(
    "include at most one command, and nothing loaded on demand, for service %j in a pipe",
    async (args) => {
      const urls = await loadedFiles(args);
      expect(urls.filter((url) => url.includes("/dist/lazy/"))).toEqual([]);
      expect(urls.filter((url) => /\/command-[a-z-]+\.cjs$/.test(url)).length).toBeLessThanOrEqual(1);
    },
  );

  it("include the server for service serve", async () => {
    const code = await loadedCode(["serve", "--port", "0", "--database", "/dev/null/none"]);
    for (const word of SERVER) expect(code).toContain(word);
  });
});

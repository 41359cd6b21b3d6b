import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

describe("help", () => {
  it.each([[[]], [["help"]], [["-h"]], [["--help"]]])("service %j shows the program on stdout", async (args) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Customers, orders, payments/);
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
      expect(stdout).toContain("service customers create [options]");
      expect(stdout).toContain("--email <address>");
      expect(stdout).toContain("$ service customers create --email ada@example.com");
    },
  );

  it.each(["environment", "exit-codes", "formatting", "webhooks"])("explains %s", async (topic) => {
    const { exitCode, stdout } = await runCli(["help", topic]);
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeGreaterThan(300);
  });

  it("lists every exit code that the program uses", async () => {
    const { stdout } = await runCli(["help", "exit-codes"]);
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(stdout).toMatch(new RegExp(`^${code} +[A-Z]`, "m"));
  });

  it("suggests a topic or command for one that does not exist", async () => {
    expect(await runCli(["help", "enviroment"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: 'Error: There is no command or topic "enviroment"\nDid you mean environment?\n',
    });
    expect(await runCli(["help", "customers", "craete"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Did you mean create?"),
    });
  });

  it("keeps lines within 100 columns where no terminal says otherwise", async () => {
    const { stdout } = await runCli(["trigger", "--help"]);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });
});

describe("the version", () => {
  it.each([[["--version"]], [["-V"]], [["--json", "--version"]]])("service %j", async (args) => {
    expect(await runCli(args)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("service version names the API and Node too", async () => {
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

describe("what is loaded", () => {
  // Words that the server's own packages and no part of the command carry.
  const SERVER = ["FST_ERR_", "PRAGMA journal_mode", "~kind"];

  async function loadedCode(args: readonly string[]): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), "service-coverage-"));
    await runCli(args, { env: { NODE_V8_COVERAGE: folder } });
    const urls = readdirSync(folder)
      .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { result: { url: string }[] })
      .flatMap(({ result }) => result.map(({ url }) => url))
      .filter((url) => url.startsWith("file:") && url.includes("/dist/"));
    expect(urls).not.toEqual([]);
    return urls.map((url) => readFileSync(fileURLToPath(url), "utf8")).join("\n");
  }

  it.each([[["--help"]], [["customers", "list", "--help"]], [["whoami"]], [["serve", "--help"]]])(
    "nothing of the server by service %j",
    async (args) => {
      const code = await loadedCode(args);
      for (const word of SERVER) expect(code).not.toContain(word);
    },
  );

  it("the server by service serve", async () => {
    const code = await loadedCode(["serve", "--port", "0", "--database", "/dev/null/none"]);
    for (const word of SERVER) expect(code).toContain(word);
  });
});

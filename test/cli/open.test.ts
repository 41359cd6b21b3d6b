import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";

describe("service open", () => {
  it.each([
    [[], "http://127.0.0.1:4010/dashboard/sandbox"],
    [["dashboard", "--live"], "http://127.0.0.1:4010/dashboard/live"],
    [["events"], "http://127.0.0.1:4010/dashboard/sandbox/events"],
    [["docs", "--base-url", "https://example.com/platform"], "https://example.com/platform/docs"],
    [
      ["docs", "concepts#objects", "--base-url", "https://example.com"],
      "https://example.com/docs/guides/concepts#objects",
    ],
  ])("%j prints the URL", async (args, url) => {
    expect(await runCli(["open", ...args])).toEqual({ exitCode: 0, stdout: `${url}\n`, stderr: "" });
  });

  it("reports with --json whether a browser opened", async () => {
    expect(JSON.parse((await runCli(["open", "docs", "--json"])).stdout)).toEqual({
      page: "docs",
      url: "http://127.0.0.1:4010/docs",
      opened: false,
    });
  });

  it("prints the file of a guide if no platform serves it, and suggests the nearest one for another name", async () => {
    const args = ["--base-url", `http://127.0.0.1:${await freePort()}`];
    const { stdout } = await runCli(["open", "docs", "webhooks-library", ...args]);
    expect(readFileSync(stdout.trim(), "utf8")).toMatch(/^# /);
    const { exitCode, stderr } = await runCli(["open", "docs", "tutoral"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'Error: There is no guide "tutoral"\nDid you mean tutorial?\n',
    });
  });

  it("lists its pages if the page is unknown", async () => {
    const { exitCode, stderr } = await runCli(["open", "dashbord"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("dashboard, events, docs, api");
  });

  it("prints the URL on a terminal too, and why no browser opened", async () => {
    const session = runInTerminal(["open"], { env: { SSH_TTY: "/dev/pts/1" } });
    expect(await session.ended).toBe(0);
    expect(session.text()).toBe(
      "http://127.0.0.1:4010/dashboard/sandbox\nCould not open a browser over SSH. Open the URL yourself.\n",
    );
  });

  it("prints the folder of the guides if no platform serves them, in a pipe too", async () => {
    const port = await freePort();
    const args = ["open", "docs", "--base-url", `http://127.0.0.1:${port}`];
    const { exitCode, stdout, stderr } = await runCli(args);
    expect(exitCode).toBe(0);
    expect(readdirSync(stdout.trim())).toContain("troubleshooting.md");
    expect(stderr).toBe(
      `This is the text. Start the platform with \`service serve --port ${port}\` to read it at http://127.0.0.1:${port}/docs.\n`,
    );
  });

  it("says that no platform serves the API reference", async () => {
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    expect(await runCli(["open", "api", "--base-url", baseUrl])).toEqual({
      exitCode: 0,
      stdout: `${baseUrl}/docs/reference\n`,
      stderr: `No platform listens at ${baseUrl}. Start the platform with \`service serve --port ${port}\` to read it.\n`,
    });
  });

  it("passes the URL to the desktop's browser", async () => {
    const folder = createConfigDir();
    const opener = join(folder, "xdg-open");
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > "${folder}/opened"\n`);
    chmodSync(opener, 0o700);
    const session = runInTerminal(["open", "events"], {
      env: { DISPLAY: ":0", PATH: `${folder}:${process.env["PATH"]}` },
    });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("Opened in your browser.");
    const opened = join(folder, "opened");
    // The command does not wait for a slow opener.
    await expect
      .poll(() => existsSync(opened) && readFileSync(opened, "utf8"))
      .toBe("http://127.0.0.1:4010/dashboard/sandbox/events");
  });
});

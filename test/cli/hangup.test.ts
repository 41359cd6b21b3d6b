import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";
import { BIN, cliEnv } from "../support/run-cli.ts";

const cli = cliOnPlatform();

describe("closing the terminal", () => {
  it("makes service serve --ephemeral remove its database and exit with 129", async () => {
    const folder = mkdtempSync(join(tmpdir(), "service-hangup-"));
    const child = spawn(process.execPath, [BIN, "serve", "--ephemeral", "--port", "0", "--json"], {
      env: cliEnv({ TMPDIR: folder, SERVICE_CONFIG_DIR: folder }),
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(child.stdout, "data");
    expect(readdirSync(folder)).toHaveLength(1);
    child.kill("SIGHUP");
    expect(await once(child, "exit")).toEqual([129, null]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("makes service listen remove its ready file and exit with 129", async () => {
    const ready = join(mkdtempSync(join(tmpdir(), "service-hangup-")), "ready");
    const listener = await startListener(cli.platform.env, ["--ready-file", ready]);
    await expect.poll(() => existsSync(ready)).toBe(true);
    expect(await listener.interrupt("SIGHUP")).toBe(129);
    expect(existsSync(ready)).toBe(false);
  });
});

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

let platform: ServedPlatform;
let program: string;
let folder: string;

beforeAll(async () => {
  program = join(await installPackages("@redocly/cli@2.77.0"), "node_modules/.bin/redocly");
  folder = mkdtempSync(join(tmpdir(), "service-redocly-"));
  platform = await servePlatform();
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("Redocly CLI", () => {
  it("lint finds neither an error nor a warning in /openapi.json", async () => {
    writeFileSync(join(folder, "openapi.json"), await (await fetch(`${platform.baseUrl}/openapi.json`)).text());
    const { stdout, stderr } = await promisify(execFile)(program, ["lint", "openapi.json", "--max-problems", "1"], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      },
    });
    expect(stdout + stderr).toMatch(/Your API description is valid/);
  });
});

import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

let platform: ServedPlatform;
/** Accepts every delivery except at /broken. */
let receiver: Server;
let program: string;
let folder: string;

beforeAll(async () => {
  program = join(await installPackages("@redocly/cli@2.77.0"), "node_modules/.bin/redocly");
  folder = mkdtempSync(join(tmpdir(), "service-redocly-"));
  platform = await servePlatform();
  receiver = createServer((request, response) => {
    response.writeHead(request.url === "/broken" ? 500 : 204).end();
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});
afterAll(async () => {
  receiver.close();
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs Redocly CLI on a document as the platform serves it. Rejects if it finds an error. */
async function redocly(command: string, document: string, ...args: readonly string[]): Promise<string> {
  writeFileSync(join(folder, document), await (await fetch(`${platform.baseUrl}/${document}`)).text());
  const { stdout, stderr } = await promisify(execFile)(program, [command, document, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  return stdout + stderr;
}

describe("Redocly CLI", () => {
  it.each(["openapi.json", "arazzo.json"])("lint finds neither an error nor a warning in /%s", async (document) => {
    expect(await redocly("lint", document, "--max-problems", "1")).toMatch(/Your API description is valid/);
  });

  it("respect runs every workflow of /arazzo.json against the platform", async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const input = JSON.stringify({
      api_key: platform.sandboxKey,
      email: "ada@example.com",
      url: `${url}/`,
      broken_url: `${url}/broken`,
    });
    const printed = await redocly("respect", "arazzo.json", "--input", input);
    expect(printed).toMatch(/Workflows: 3 passed, 3 total/);
  });
});

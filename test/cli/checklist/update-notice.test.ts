import { readFileSync, watch, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { listen } from "../../client/support/scripted-server.ts";
import { createConfigDir, runCli } from "../../support/run-cli.ts";
import { runInTerminal } from "../../support/terminal.ts";

const DAY = 86_400_000;
let folder: string;
let env: Record<string, string | undefined>;
let requests: string[];

/** Starts a package registry, which the command requests in the background. */
async function startRegistry(respond: RequestListener): Promise<void> {
  const url = await listen(
    createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      respond(request, response);
    }),
  );
  env = { ...env, SERVICE_REGISTRY_URL: url };
}

beforeEach(() => {
  requests = [];
  folder = createConfigDir();
  env = {
    SERVICE_CONFIG_DIR: folder,
    SERVICE_NO_UPDATE_NOTIFIER: undefined,
    SERVICE_REGISTRY_URL: "http://127.0.0.1:9",
  };
});

const release =
  (version: string): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ version }));

async function terminal(...args: string[]): Promise<string> {
  const session = runInTerminal(args, { env });
  expect(await session.ended).toBe(0);
  return session.text();
}

const remember = (state: object): void => writeFileSync(join(folder, "update.json"), JSON.stringify(state));
const remembered = (): Record<string, unknown> => JSON.parse(readFileSync(join(folder, "update.json"), "utf8"));

/** Resolves once the background process has stored its result. */
function untilRemembered(latest: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (remembered()["latest"] !== latest) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(folder, look);
    look();
  });
}

describe("a newer version", () => {
  it("is looked up in the background once a day, and reported once after the next command", async () => {
    await startRegistry(release("99.0.0"));
    expect(await terminal("version")).not.toContain("newer version");
    await untilRemembered("99.0.0");
    expect(requests).toEqual(["GET /service-cli/latest"]);
    const reported = await terminal("version");
    expect(reported).toMatch(
      /^service \d.*\n\nA newer version is available: \d+\.\d+\.\d+ → 99\.0\.0\n {2}npm install --global service-cli\n/,
    );
    expect(reported).toContain("service config set update_notices false");
    expect(await terminal("version")).not.toContain("newer version");
    expect(requests).toHaveLength(1);
  });

  it("does not delay a command while the registry is silent", async () => {
    let onRequest = (): void => {};
    const request = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    await startRegistry(() => onRequest());
    await terminal("version");
    // The command has exited before the registry responded.
    await request;
    expect(remembered()["checked"]).toBeGreaterThan(Date.now() - DAY);
  });

  it("is not reported if it is older or a pre-release", async () => {
    for (const latest of ["0.0.1", "99.0.0-beta.1", "\u001b[31m99.0.0"]) {
      remember({ checked: Date.now(), notified: 0, latest });
      expect(await terminal("version")).not.toContain("newer version");
    }
  });

  it("is reported again the next day", async () => {
    remember({ checked: Date.now(), notified: Date.now() - 1.1 * DAY, latest: "99.0.0" });
    expect(await terminal("version")).toContain("→ 99.0.0");
  });

  it.each<[string, string[], Record<string, string>]>([
    ["--json", ["version", "--json"], {}],
    ["--quiet", ["version", "-q"], {}],
    ["CI", ["version"], { CI: "true" }],
    ["SERVICE_NO_UPDATE_NOTIFIER", ["version"], { SERVICE_NO_UPDATE_NOTIFIER: "1" }],
    ["NO_UPDATE_NOTIFIER", ["version"], { NO_UPDATE_NOTIFIER: "1" }],
    ["DO_NOT_TRACK", ["version"], { DO_NOT_TRACK: "1" }],
  ])("is not reported with %s", async (_name, args, more) => {
    await startRegistry(release("99.0.0"));
    const state = { checked: 0, notified: 0, latest: "99.0.0" };
    remember(state);
    env = { ...env, ...more };
    expect(await terminal(...args)).not.toContain("99.0.0");
    expect(remembered()).toEqual(state);
    expect(requests).toEqual([]);
  });

  it("is not reported in a pipe, or if the settings disable it", async () => {
    remember({ checked: Date.now(), notified: 0, latest: "99.0.0" });
    const { stdout, stderr } = await runCli(["version"], { env });
    expect(stdout + stderr).not.toContain("99.0.0");
    await runCli(["config", "set", "update_notices", "false"], { env });
    expect(await terminal("version")).not.toContain("99.0.0");
    await runCli(["config", "unset", "update_notices"], { env });
    expect(await terminal("version")).toContain("99.0.0");
  });

  it("never makes a command fail", async () => {
    env = { ...env, SERVICE_CONFIG_DIR: "/dev/null/nowhere" };
    expect(await terminal("version")).toMatch(/^service /);
  });
});

import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { describe, expect, it, onTestFinished } from "vitest";
import { servePlatform } from "../support/platform.ts";
import { BIN, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { loadSqlite } from "../../src/platform/storage/sqlite/runtime.ts";
import {
  APP,
  type DevProject,
  FILES,
  isRunning,
  makeProject,
  platformPid,
  spawnDev,
  startDev,
  startInProject,
} from "./support/dev-project.ts";

const READY = /^dev {6}│ ✓ Ready after/m;

/** What is left after the end. */
async function expectNothingRuns(project: DevProject): Promise<void> {
  const pids = project.read("pids").split(" ").map(Number);
  expect(pids.filter(isRunning)).toEqual([]);
  await expect(fetch(`http://127.0.0.1:${project.port}/v1/me`)).rejects.toThrow("fetch failed");
}

describe("service dev", () => {
  it("starts platform, listener and app in order, and forwards events to the app", async () => {
    const project = await makeProject(FILES);
    const dev = startDev(project);
    await dev.waitFor(READY);
    const { exitCode, stderr } = await project.service(["trigger", "order.completed"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    await dev.waitFor("app      │ received order.completed at /webhooks");
    const starts = dev.output().match(/^(\w+) +│ ✓/gm);
    expect(starts).toEqual(["platform │ ✓", "listen   │ ✓", "app      │ ✓", "dev      │ ✓"]);
    expect(
      dev
        .output()
        .split("\n")
        .filter((line) => line !== "" && !/^(platform|listen  |app     |dev     ) │ /.test(line)),
    ).toEqual([]);
    expect(await dev.interrupt()).toBe(130);
    await expectNothingRuns(project);
  });

  it("warns a user who signs in that the folder's key is used instead", async () => {
    const project = await makeProject(FILES);
    const dev = startDev(project);
    await dev.waitFor(READY);
    const [, key] = /^SERVICE_API_KEY=(.*)$/m.exec(project.read(".env.local"))!;
    const login = await runCli(["login", "--api-key-stdin"], { cwd: project.folder, env: project.env, input: key! });
    expect(login.exitCode).toBe(0);
    const file = join(project.folder, ".service/platform.db.credentials");
    expect(login.stderr).toContain(`Warning: In this folder, the API key in ${file} is used instead.`);
    await dev.interrupt();
  });

  it("creates a database that service db and service serve use in the folder", async () => {
    const project = await makeProject({ ...FILES, "app.js": "" });
    expect(await startDev(project).ended).toBe(0);
    const database = join(project.folder, ".service/platform.db");
    const { stdout } = await project.service(["db", "status", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ database });
    expect((await project.service(["db", "check"])).exitCode).toBe(0);
    const missing = ["--database", "missing.db"];
    const { stderr: advice } = await project.service(["db", "status", ...missing]);
    expect(advice).toContain("pass another file with --database");
    expect(await project.service(["db", "backup", "none.db", ...missing])).toMatchObject({
      exitCode: 2,
      stderr: advice,
    });
    const backup = await project.service(["db", "backup", "backup.db", "--json"]);
    expect(JSON.parse(backup.stdout)).toMatchObject({ database });
    const restored = await project.service(["db", "restore", "backup.db", "--yes", "--json"]);
    expect(JSON.parse(restored.stdout)).toMatchObject({ database });
    const served = startInProject(project, ["serve", "--json"]);
    await served.waitFor(`"base_url":"http://127.0.0.1:${project.port}"`);
    expect(served.output()).toContain(`"database":"${database}"`);
    await served.interrupt();
  });

  it("writes secret, key and URL to the env file, changes nothing else in it, and passes them to the app", async () => {
    const project = await makeProject({
      ...FILES,
      "service.yaml": `
platform: { port: PORT, database: data/shop.db }
env: { file: .env.local, secret: SHOP_SECRET, key: SHOP_KEY, url: SHOP_URL }
run: node -e 'console.log("app has", process.env.SHOP_SECRET, process.env.SHOP_KEY, process.env.SHOP_URL)'
`,
      ".env.local": "# mine\nSHOP_URL=old\nOTHER=1",
    });
    const dev = startDev(project);
    expect(await dev.ended).toBe(0);
    const [, secret, key] =
      /^# mine\nSHOP_URL=http:\/\/127\.0\.0\.1:\d+\nOTHER=1\nSHOP_SECRET=(whsec_\S+)\nSHOP_KEY=(sk_sandbox_\S+)\n$/.exec(
        project.read(".env.local"),
      )!;
    expect(dev.output()).toContain(`app      │ app has ${secret} ${key} http://127.0.0.1:${project.port}\n`);
    expect(existsSync(join(project.folder, "data/shop.db"))).toBe(true);
  });

  it("lets only its owner read a new env file, and has git ignore the folder .service", async () => {
    const project = await makeProject(FILES);
    const dev = startDev(project);
    await dev.waitFor(READY);
    expect(statSync(join(project.folder, ".env.local")).mode & 0o777).toBe(0o600);
    expect(project.read(".service/.gitignore")).toBe("*\n");
    expect(await dev.interrupt("SIGTERM")).toBe(143);
  });

  it("stops everything and exits with the app's code once the app exits", async () => {
    const project = await makeProject({ ...FILES, "app.js": `${APP}\nsetTimeout(() => process.exit(3), 500);` });
    const dev = startDev(project);
    expect(await dev.ended).toBe(3);
    expect(dev.output()).toContain("app      │ ✗ exited with code 3; everything else was stopped");
    await expectNothingRuns(project);
  });

  it("exits with 127 if the app's command is not found", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }\nrun: no-such-command-here" });
    const dev = startDev(project);
    expect(await dev.ended).toBe(127);
    expect(dev.output()).toMatch(/app {6}│ .*no-such-command-here: .*not found/);
  });

  it("forwards until Ctrl-C without an app, then exits with 0", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }" });
    const dev = startDev(project);
    await dev.waitFor(READY);
    expect((await project.service(["trigger", "customer.created"])).exitCode).toBe(0);
    await dev.waitFor(/^listen {3}│ .*customer\.created/m);
    expect(await dev.interrupt()).toBe(0);
  });

  it("names the command that explains a failed forward, once", async () => {
    const service = "platform: { port: PORT }\nforward: { to: localhost:9, retries: 0 }";
    const project = await makeProject({ "service.yaml": service });
    const dev = startDev(project);
    await dev.waitFor(READY);
    const { stdout } = await project.service(["trigger", "order.completed", "--quiet"]);
    await dev.waitFor(new RegExp(`refused +order\\.completed .*${stdout.trim()}`));
    await dev.waitFor(/^listen {3}│ +to explain it: service why evt_\w+$/m);
    expect(dev.output().match(/to explain it/g)).toHaveLength(1);
    expect(await dev.interrupt()).toBe(0);
  });

  it("prefixes lines with color only on a terminal without NO_COLOR", async () => {
    const files = {
      "service.yaml": "platform: { port: PORT }\nrun: node -e 'console.log(`color`, process.env.FORCE_COLOR)'",
    };
    const project = await makeProject(files);
    const piped = startDev(project);
    expect(await piped.ended).toBe(0);
    expect(piped.output()).toContain("app      │ color undefined\n");
    expect(piped.output()).not.toContain("\u001b");
    const colored = runInTerminal(["dev", "--no-ui"], { cwd: project.folder, env: project.env });
    expect(await colored.ended).toBe(0);
    expect(colored.output()).toContain("\u001b[32mapp     \u001b[39m │ color 1");
    const plain = runInTerminal(["dev", "--no-ui"], { cwd: project.folder, env: { ...project.env, NO_COLOR: "1" } });
    expect(await plain.ended).toBe(0);
    expect(plain.output()).toContain("app      │ color undefined");
    expect(plain.output()).not.toMatch(/\u001b\[\d+m/);
  });

  it("shows the last state of a progress bar, and keeps the app from moving the cursor", async () => {
    const print = String.raw`process.stdout.write("\x1b[2J\x1b[H10 %\r100 %\r\nlast line")`;
    const project = await makeProject({
      "service.yaml": "platform: { port: PORT }\nrun: node app.js",
      "app.js": print,
    });
    const dev = startDev(project);
    expect(await dev.ended).toBe(0);
    expect(dev.output().match(/^app .*/gm)).toEqual([
      "app      │ $ node app.js",
      "app      │ 100 %",
      "app      │ last line",
      "app      │ ✓ exited with code 0; everything else was stopped",
    ]);
  });

  it("prints an endless line in parts of at most 64 KiB, without splitting characters", async () => {
    const project = await makeProject({
      "service.yaml": "platform: { port: PORT }\nrun: node app.js",
      "app.js": `process.stdout.write("a".repeat(65535) + "😀" + "b".repeat(10)); setInterval(() => {}, 1000);`,
    });
    const dev = startDev(project);
    await dev.waitFor(`app      │ ${"a".repeat(65_535)}\n`);
    expect(await dev.interrupt()).toBe(130);
    expect(dev.output()).toContain(`app      │ 😀${"b".repeat(10)}\n`);
  });

  it("shows which request failed in the platform, and why", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }\nenv: { file: .env.local }" });
    const dev = startDev(project);
    await dev.waitFor(READY);
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(join(project.folder, ".service/platform.db"));
    database.exec("ALTER TABLE customers RENAME TO moved");
    database.close();
    const { stderr } = await project.service(["customers", "list"]);
    const [, id] = /(req_\w+)/.exec(stderr)!;
    await dev.waitFor(
      `platform │ Warning: a request failed: no such table: customers (request_id=${id}, method=GET, path=/v1/customers)\n`,
    );
  });

  it("prints one JSON object per line with --json, without secrets", async () => {
    const project = await makeProject(FILES);
    const dev = startDev(project, ["--json"]);
    await dev.waitFor(/"part":"dev","event":"state","state":"ready"/);
    expect((await project.service(["trigger", "customer.created"])).exitCode).toBe(0);
    await dev.waitFor(
      '"part":"app","event":"output","stream":"stdout","text":"received customer.created at /webhooks"',
    );
    await dev.waitFor(/"part":"listen","event":"forwarded"/);
    expect(await dev.interrupt()).toBe(130);
    const records = dev
      .output()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { part: string });
    expect(new Set(records.map(({ part }) => part))).toEqual(new Set(["platform", "listen", "app", "dev"]));
    expect(dev.output()).not.toMatch(/whsec_|sk_sandbox_\w{20}/);
  });
});

describe("the end of service dev", () => {
  const STUBBORN = `${APP}\nfor (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => console.log("ignored " + name));`;

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("passes %s on to the app, and leaves no process", async (signal, code) => {
    const project = await makeProject(FILES);
    const dev = spawnDev(project);
    await dev.waitFor(READY);
    expect(await dev.interrupt(signal)).toBe(code);
    await expectNothingRuns(project);
  });

  it("exits with the code of an app that handles Ctrl-C", async () => {
    const app = `${APP}\nprocess.on("SIGINT", () => { console.log("bye"); process.exit(5); });`;
    const project = await makeProject({ ...FILES, "app.js": app });
    const dev = startDev(project);
    await dev.waitFor(READY);
    expect(await dev.interrupt()).toBe(5);
    expect(dev.output()).toContain("app      │ bye");
    await expectNothingRuns(project);
  });

  it("stops at Ctrl-C while the listener restarts, after the forward in flight", async () => {
    const platform = await servePlatform();
    onTestFinished(async () => void (await platform.stop()));
    const held: ServerResponse[] = [];
    const receiver = createServer((request, response) => request.resume().on("end", () => held.push(response)));
    const { port } = await listening(receiver);
    const yaml = (path: string) =>
      `platform: { url: "${platform.baseUrl}" }\nforward: { to: localhost:${port}/${path} }`;
    const project = await makeProject({ "service.yaml": yaml("before") });
    const dev = startDev(project, [], platform.env);
    await dev.waitFor(READY);
    expect((await project.service(["trigger", "customer.created"], platform.env)).exitCode).toBe(0);
    await expect.poll(() => held.length).toBe(1);
    project.write("service.yaml", yaml("after"));
    await dev.waitFor("restarting the listener");
    const end = dev.interrupt();
    held[0]!.end();
    expect(await end).toBe(0);
    expect(dev.output()).not.toContain("/after");
  });

  it.each([
    ["of service.yaml is written", ".service/schema.json"],
    ["of the platform is created", ".service/platform.db"],
    ["of variables is written", ".env.local"],
    ["of the app is written", "pids"],
  ])("stops at Ctrl-C as soon as a file %s", async (_which, file) => {
    const yaml = `# yaml-language-server: $schema=.service/schema.json\n${FILES["service.yaml"]}`;
    const project = await makeProject({ ...FILES, "service.yaml": yaml });
    const dev = startDev(project);
    await untilExists(join(project.folder, file));
    expect([0, 130]).toContain(await dev.interrupt());
    await expect(fetch(`http://127.0.0.1:${project.port}/v1/me`)).rejects.toThrow("fetch failed");
    if (existsSync(join(project.folder, "pids"))) await expectNothingRuns(project);
  });

  it("stops at Ctrl-C right after its start, before the listener has connected", async () => {
    const platform = await servePlatform();
    onTestFinished(async () => void (await platform.stop()));
    const project = await makeProject({
      "service.yaml": `# yaml-language-server: $schema=.service/schema.json\nplatform: { url: "${platform.baseUrl}" }`,
    });
    const dev = startDev(project, [], platform.env);
    await untilExists(join(project.folder, ".service/schema.json"));
    expect(await dev.interrupt()).toBe(0);
  });

  it("stops at Ctrl-C while it connects to a platform that never responds", async () => {
    let upgrades = 0;
    const { port } = await listening(createServer().on("upgrade", () => (upgrades += 1)));
    const url = `http://127.0.0.1:${port}`;
    const project = await makeProject({ "service.yaml": `platform: { url: '${url}' }` });
    const key = `sk_sandbox_${"a".repeat(49)}`;
    const dev = startDev(project, [], { SERVICE_BASE_URL: url, SERVICE_API_KEY: key });
    await expect.poll(() => upgrades, { timeout: 60_000 }).toBe(1);
    expect(await dev.interrupt()).toBe(0);
  });

  it("kills an app that ignores signals", async () => {
    const project = await makeProject({ ...FILES, "app.js": STUBBORN });
    const dev = startDev(project);
    await dev.waitFor(READY);
    expect(await dev.interrupt("SIGTERM")).toBe(137);
    expect(dev.output()).toContain("app      │ ignored SIGTERM");
    expect(dev.output()).toContain("app      │ ✗ still running 5 s after SIGTERM; killed");
    await expectNothingRuns(project);
  });

  it("kills everything at the second Ctrl-C", async () => {
    const project = await makeProject({ ...FILES, "app.js": STUBBORN });
    const dev = spawnDev(project);
    await dev.waitFor(READY);
    void dev.interrupt();
    await dev.waitFor("ignored SIGINT");
    expect(await dev.interrupt()).toBe("SIGINT");
    await expect.poll(() => project.read("pids").split(" ").map(Number).filter(isRunning)).toEqual([]);
    expect(dev.output()).not.toContain("still running");
  });

  it("leaves no process when its terminal is closed", async () => {
    const project = await makeProject(FILES);
    const pty = spawn(process.execPath, [BIN, "dev"], { cols: 100, rows: 40, cwd: project.folder, env: project.env });
    let output = "";
    pty.onData((text) => (output += text));
    await expect.poll(() => output, { timeout: 60_000 }).toContain("ready on localhost");
    const ended = new Promise((resolve) => pty.onExit(resolve));
    // The system sends SIGHUP to the processes of a terminal whose other side is closed.
    (pty as unknown as { destroy(): void }).destroy();
    await ended;
    await expect
      .poll(() => project.read("pids").split(" ").map(Number).filter(isRunning), { timeout: 30_000 })
      .toEqual([]);
    await expect
      .poll(() => fetch(`http://127.0.0.1:${project.port}`).then(String, String), { timeout: 30_000 })
      .toMatch(/fetch failed/);
  });

  it("stops the platform if service dev itself is killed", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }" });
    const dev = spawnDev(project);
    await dev.waitFor(READY);
    await dev.kill();
    await expect
      .poll(() => fetch(`http://127.0.0.1:${project.port}`).then(String, String), { timeout: 30_000 })
      .toMatch(/fetch failed/);
  });

  it("stops the app with a message if the platform exits", async () => {
    const project = await makeProject(FILES);
    const first = startDev(project);
    await first.waitFor(READY);
    process.kill(await platformPid(project), "SIGKILL");
    expect(await first.ended).toBe(1);
    expect(first.output()).toContain("Error: The platform was ended by SIGKILL; everything else was stopped");
    await expectNothingRuns(project);
  });
});

/** Listens on a free port until the test ends. */
async function listening(server: Server): Promise<AddressInfo> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address() as AddressInfo;
}

const untilExists = (path: string) => expect.poll(() => existsSync(path), { interval: 1, timeout: 60_000 }).toBe(true);

describe("a start of service dev that cannot succeed", () => {
  it("shows which program uses the port, and which setting to change", async () => {
    const project = await makeProject(FILES);
    const server = createServer().listen(project.port, "127.0.0.1");
    const dev = startDev(project);
    expect(await dev.ended).toBe(1);
    server.close();
    expect(dev.output()).toContain(`Cannot listen on 127.0.0.1:${project.port}: the port is in use by`);
    expect(dev.output()).toContain(
      `set another platform.port in service.yaml. To use it as the platform, set platform.url: http://127.0.0.1:${project.port}`,
    );
    expect(dev.output()).not.toContain("app      │");
  });

  it("shows which process already serves the database, and which setting to change", async () => {
    const project = await makeProject(FILES);
    const first = startDev(project);
    await first.waitFor(READY);
    const second = startDev(project);
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/platform\.db is in use by process \d+/);
    expect(second.output()).toContain("Another `service dev` or `service serve` is using it");
    expect(second.output()).toContain("set another platform.database in service.yaml");
    expect(second.output()).toContain(`set platform.url to http://127.0.0.1:${project.port}.`);
  });

  it("explains how to create service.yaml if it is missing", async () => {
    const project = await makeProject({});
    const { exitCode, stderr } = await project.service(["dev"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`service.yaml not found in ${project.folder}`);
    expect(stderr).toContain("To create it: service dev init");
  });

  it("exits with 7 if the platform at platform.url does not run", async () => {
    const project = await makeProject({ "service.yaml": "platform: { url: 'http://127.0.0.1:PORT' }" });
    await project.service(["dev", "trust", "--yes"]);
    const dev = startDev(project, [], { SERVICE_API_KEY: `sk_sandbox_${"a".repeat(49)}` });
    expect(await dev.ended).toBe(7);
    expect(dev.output()).toContain("Is the platform at platform.url (service.yaml) running?");
  });
});

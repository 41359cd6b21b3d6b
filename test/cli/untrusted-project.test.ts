import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { spawnCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { type DevProject, makeProject, startDev } from "./support/dev-project.ts";

const on = cliOnPlatform();

/** A folder with a home folder beside it, whose files belong to the user. */
async function projectBesideHome(files: Readonly<Record<string, string>>) {
  const project = await makeProject(files);
  const home = `${project.folder}-home`;
  mkdirSync(home);
  writeFileSync(join(home, ".bashrc"), "export PATH=/bin\n");
  return { project, home, up: `../${basename(home)}` };
}

/** A server of someone else, with the credentials that it was sent. */
async function startStranger() {
  const credentials: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    credentials.push(request.headers.authorization);
    response.writeHead(500).end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, credentials };
}

const failsWith = (stderr: string, exitCode = 2) =>
  expect.objectContaining({ exitCode, stderr: expect.stringContaining(stderr) as string }) as object;

describe("a path in service.yaml that leads out of its folder", () => {
  it.each([
    [
      "a relative path",
      "env: { file: UP/.bashrc, secret: PATH }",
      "service.yaml:1:14: env.file: leads to HOME/.bashrc, outside the folder of service.yaml; use a path inside it",
    ],
    ["an absolute path", "env: { file: HOME/.bashrc }", "service.yaml:1:14: env.file: leads to HOME/.bashrc"],
    ["a link to a file", "run: a\nenv: { file: link }", "service.yaml:2:14: env.file: leads to HOME/.bashrc"],
    ["a link to a folder", "env: { file: folder/new }", "service.yaml:1:14: env.file: leads to HOME/new"],
    ["a link to nothing", "env: { file: nothing }", "service.yaml:1:14: env.file: leads to HOME/nothing"],
    [
      "a database",
      "platform: { database: UP/platform.db }",
      "service.yaml:1:23: platform.database: leads to HOME/platform.db",
    ],
    ["a seed", "seed: UP/.bashrc", "service.yaml:1:7: seed: leads to HOME/.bashrc"],
  ])("is rejected as %s", async (_kind, text, message) => {
    const { project, home, up } = await projectBesideHome({});
    symlinkSync(join(up, ".bashrc"), join(project.folder, "link"));
    symlinkSync(up, join(project.folder, "folder"));
    symlinkSync(join(up, "nothing"), join(project.folder, "nothing"));
    project.write("service.yaml", text.replaceAll("UP", up).replaceAll("HOME", home));
    const listen = await project.service(["listen", "--", "true"], on.platform.env);
    expect(listen).toEqual(failsWith(message.replaceAll("HOME", home)));
    expect(await project.service(["dev"])).toEqual(failsWith("service.yaml has an error"));
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("export PATH=/bin\n");
    expect(existsSync(join(home, "nothing"))).toBe(false);
  });

  it("is rejected if the default database is a link", async () => {
    const { project, home, up } = await projectBesideHome({ "service.yaml": "platform: { port: PORT }" });
    symlinkSync(up, join(project.folder, ".service"));
    const message = `service.yaml:1:11: platform.database: leads to ${home}/platform.db`;
    expect(await project.service(["dev"])).toEqual(failsWith(message));
    expect(await project.service(["serve", "link"])).toEqual(failsWith(message));
  });

  it("is rejected if a file that service dev writes is a link", async () => {
    const { project, home, up } = await projectBesideHome({ "service.yaml": "platform: { port: PORT }" });
    mkdirSync(join(project.folder, ".service"));
    symlinkSync(join("..", up, ".bashrc"), join(project.folder, ".service/.gitignore"));
    expect(await project.service(["dev"])).toEqual(failsWith(`leads to ${home}/.bashrc, outside the folder`, 1));
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("export PATH=/bin\n");
  });
});

describe("env.file of service.yaml", () => {
  it.each([
    [".git/config", "is not an env file: its name must be .env, .env.*, *.env, .envrc or .dev.vars"],
    ["package.json", "is not an env file: its name must be .env, .env.*, *.env, .envrc or .dev.vars"],
    [".git/hooks/.env", "is in a .git folder; use a path outside it"],
    ["linked.env", "leads to package.json, which is not an env file: its name must be .env,"],
  ])("may not be %s", async (file, message) => {
    const project = await makeProject({ "package.json": "{}\n", ".git/config": "[core]\n" });
    symlinkSync("package.json", join(project.folder, "linked.env"));
    project.write("service.yaml", `run: a\nenv: { file: ${file} }`);
    const listen = await project.service(["listen", "--", "true"], on.platform.env);
    expect(listen).toEqual(failsWith(`service.yaml:2:14: env.file: ${message}`));
    expect(await project.service(["dev"])).toEqual(failsWith("service.yaml has an error"));
    expect(readFileSync(join(project.folder, "package.json"), "utf8")).toBe("{}\n");
    expect(readFileSync(join(project.folder, ".git/config"), "utf8")).toBe("[core]\n");
  });

  it("can be any env file in the folder, and --write-env can be any file", async () => {
    const project = await makeProject({});
    for (const file of [".env", ".env.test.local", "config/app.env", ".envrc", ".dev.vars"]) {
      project.write(file, "A=1\n");
      project.write("service.yaml", `env: { file: ${file} }`);
      expect(await project.service(["listen", "--", "true"], on.platform.env)).toMatchObject({ exitCode: 0 });
      expect(readFileSync(join(project.folder, file), "utf8")).toContain("SERVICE_WEBHOOK_SECRET=whsec_");
    }
    const given = ["listen", "--write-env", "secret.txt", "--", "true"];
    const options = { cwd: project.folder, env: { ...project.env, ...on.platform.env } };
    expect(await spawnCli(given, options)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(project.folder, "secret.txt"), "utf8")).toContain("SERVICE_WEBHOOK_SECRET=whsec_");
  });
});

describe("a service.yaml that is not a regular file", () => {
  it.each([
    ["a pipe", (path: string) => void execFileSync("mkfifo", [path]), "is not a regular file"],
    ["a device", (path: string) => symlinkSync("/dev/zero", path), "is not a regular file"],
    ["a folder", (path: string) => mkdirSync(path), "is a folder"],
  ])("is rejected as %s", async (_kind, create, problem) => {
    const project = await makeProject({});
    create(join(project.folder, "service.yaml"));
    const listed = await project.service(["customers", "list"]);
    expect(listed).toEqual(failsWith(`service.yaml ${problem}`));
  });

  it("is rejected if it is larger than 64 KiB, and a pipe is rejected as its seed", async () => {
    const project = await makeProject({ "service.yaml": `run: ${"a".repeat(65_536)}` });
    expect(await project.service(["customers", "list"])).toEqual(failsWith("service.yaml is larger than 64 KiB"));
    project.write("service.yaml", "platform: { port: PORT }\nseed: seed.yaml");
    execFileSync("mkfifo", [join(project.folder, "seed.yaml")]);
    expect(await project.service(["dev"])).toEqual(failsWith("seed: seed.yaml is not a regular file"));
  });
});

describe("a key and the port in service.yaml", () => {
  const platformAt = (url: string): string => `platform: { port: ${new URL(url).port} }`;
  const keysFor = (url: string): string =>
    JSON.stringify({ base_url: url, sandbox_key: on.platform.sandboxKey, live_key: on.platform.liveKey });

  it("do not match if the key is for another port or folder", async () => {
    const stranger = await startStranger();
    const { project, home } = await projectBesideHome({ "service.yaml": platformAt(stranger.url) });
    project.write(".service/platform.db.credentials", keysFor("http://127.0.0.1:1"));
    expect(await project.service(["customers", "list"])).toEqual(failsWith("Not signed in", 4));
    const linked = await makeProject({ "service.yaml": platformAt(stranger.url) });
    writeFileSync(join(home, "credentials"), keysFor(stranger.url));
    mkdirSync(join(linked.folder, ".service"));
    symlinkSync(join(home, "credentials"), join(linked.folder, ".service/platform.db.credentials"));
    expect(await linked.service(["customers", "list", "--live"])).toEqual(failsWith("Not signed in", 4));
    expect(stranger.credentials).toEqual([]);
  });

  it("match after the folder's platform was started at another port", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }" });
    const first = startDev(project);
    await first.waitFor("✓ Ready after");
    await first.interrupt();
    project.write("service.yaml", "platform: { port: APP_PORT }");
    expect(await project.service(["customers", "list"])).toEqual(failsWith("Not signed in", 4));
    const second = startDev(project);
    await second.waitFor("✓ Ready after");
    expect((await project.service(["customers", "list"])).exitCode).toBe(0);
    expect(statSync(join(project.folder, ".service/platform.db.credentials")).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["a command", ["customers", "list"]],
    ["service dev", ["dev"]],
    ["service listen", ["listen", "--", "true"]],
    ["service expect", ["expect", "order.created", "--within", "1s"]],
  ])("need the user's trust if the key comes from a variable in %s", async (_name, args) => {
    const stranger = await startStranger();
    const project = await makeProject({ "service.yaml": `platform: { url: '${stranger.url}' }` });
    const key = { SERVICE_API_KEY: on.platform.sandboxKey };
    const message = `The key from SERVICE_API_KEY was not sent: the URL ${stranger.url} comes only from service.yaml`;
    expect(await project.service(args, key)).toEqual(failsWith(message, 4));
    expect(stranger.credentials).toEqual([]);
    expect((await project.service(["dev", "trust", "--yes"])).exitCode).toBe(0);
    await project.service(args, key);
    expect(stranger.credentials[0]).toBe(`Bearer ${on.platform.sandboxKey}`);
    const other = await startStranger();
    project.write("service.yaml", platformAt(other.url));
    expect(await project.service(["customers", "list"], key)).toEqual(
      failsWith(`was not sent: the URL ${other.url} comes only`, 4),
    );
    expect(other.credentials).toEqual([]);
  });

  it("need no further trust after the user's own dev init, until the file names another platform", async () => {
    const project = await makeProject({});
    const init = ["dev", "init", "--yes", "--forward-to", "app.example:3000", "--run", "none"];
    expect(await project.service(init)).toMatchObject({ exitCode: 0 });
    const dev = startDev(project);
    await dev.waitFor("✓ Ready after");
    const key = { SERVICE_API_KEY: on.platform.sandboxKey };
    expect(await project.service(["customers", "list"], key)).toEqual(
      failsWith("This platform has no API key with this value", 4),
    );
    const stranger = await startStranger();
    project.write("service.yaml", platformAt(stranger.url));
    expect(await project.service(["customers", "list"], key)).toEqual(failsWith("was not sent: the URL", 4));
    expect(stranger.credentials).toEqual([]);
  });

  it("need the user's trust if service login stores a key from stdin", async () => {
    const stranger = await startStranger();
    const project = await makeProject({ "service.yaml": platformAt(stranger.url) });
    const script = `printf %s "$KEY" | "${process.execPath}" "${process.cwd()}/bin/service.js" login --api-key-stdin`;
    const run = (): string => {
      const env = { ...project.env, KEY: on.platform.sandboxKey };
      return execFileSync("/bin/sh", ["-c", `${script} 2>&1 || true`], { cwd: project.folder, env, encoding: "utf8" });
    };
    expect(run()).toContain(`The key from --api-key-stdin was not sent: the URL ${stranger.url} comes only`);
    expect(stranger.credentials).toEqual([]);
  });
});

describe("a target in service.yaml on another machine", () => {
  const TARGET = "http://192.0.2.2:17070";
  const listen = (project: DevProject, ...flags: string[]) =>
    project.service(["listen", "--json", ...flags, "--", "true"], {
      SERVICE_BASE_URL: on.platform.baseUrl,
      SERVICE_API_KEY: on.platform.sandboxKey,
    });

  it.each([
    ["forward.to", `forward: { to: '${TARGET}/collect' }`],
    ["a route", `forward: { to: localhost:3000, routes: { 'order.*': '${TARGET}' } }`],
  ])("receives no events before the user trusts it as %s", async (_kind, text) => {
    const project = await makeProject({ "service.yaml": text });
    const rejected = failsWith(`Events are not sent to ${TARGET}, which only service.yaml names`);
    expect(await listen(project)).toEqual(rejected);
    expect(await project.service(["dev"])).toEqual(rejected);
    expect((await listen(project, "--forward-to", `${TARGET}/mine`)).exitCode).toBe(0);
    const trusted = await project.service(["dev", "trust", "--yes", "--json"]);
    expect(JSON.parse(trusted.stdout)).toMatchObject({ platform: null, receivers: [TARGET] });
    expect((await listen(project)).exitCode).toBe(0);
    project.write("service.yaml", "forward: { to: 'http://192.0.2.3:17070' }");
    expect(await listen(project)).toEqual(failsWith("Events are not sent to http://192.0.2.3:17070"));
  });

  it("does not replace a target while service dev runs", async () => {
    const project = await makeProject({
      "service.yaml": "platform: { port: PORT }\nforward: { to: localhost:APP_PORT }",
    });
    const dev = startDev(project);
    await dev.waitFor("✓ Ready after");
    project.write("service.yaml", `platform: { port: PORT }\nforward: { to: '${TARGET}' }`);
    await dev.waitFor(`Events are not sent to ${TARGET}`);
    expect(dev.output()).not.toContain("restarting the listener");
  });
});

describe("service dev trust", () => {
  it("asks in a terminal, and stores only what was confirmed, readable only by its user", async () => {
    const project = await makeProject({ "service.yaml": "forward: { to: 'app.example:3000' }" });
    const settings = join(project.env["SERVICE_CONFIG_DIR"]!, "config.json");
    for (const [answer, exitCode] of [
      ["n", 1],
      ["y", 0],
    ] as const) {
      const terminal = runInTerminal(["dev", "trust"], { cwd: project.folder, env: project.env });
      await terminal.waitFor("Allow service.yaml to send events to http://app.example:3000? (y/N)");
      expect(existsSync(settings)).toBe(false);
      terminal.type(`${answer}\r`);
      expect(await terminal.ended).toBe(exitCode);
    }
    expect(statSync(settings).mode & 0o777).toBe(0o600);
    expect(readFileSync(settings, "utf8")).toContain("http://app.example:3000");
  });

  it("withdraws the trust with --revoke", async () => {
    const project = await makeProject({ "service.yaml": "forward: { to: 'app.example:3000' }" });
    expect(await project.service(["dev", "trust", "--yes"])).toMatchObject({ exitCode: 0 });
    expect(await project.service(["dev", "trust", "--revoke"])).toMatchObject({ exitCode: 0 });
    expect(await project.service(["dev"])).toEqual(failsWith("Events are not sent to http://app.example:3000"));
  });

  it("needs a service.yaml and, without a terminal, --yes", async () => {
    const project = await makeProject({ "service.yaml": "forward: { to: 'app.example:3000' }" });
    expect(await project.service(["dev", "trust"])).toEqual(failsWith("--yes is required", 2));
    const empty = await makeProject({});
    expect(await empty.service(["dev", "trust", "--yes"])).toEqual(failsWith("service.yaml not found", 2));
  });
});

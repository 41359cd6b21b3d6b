import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseProject } from "../../src/cli/project/read.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startReceiver } from "../support/receiver.ts";
import { CTRL_C, ENTER, runInTerminal } from "../support/terminal.ts";
import { makeProject, startDev } from "./support/dev-project.ts";

const on = cliOnPlatform();

const READY = /^dev {6}│ ✓ Ready after/m;
const CALL = '- method: POST\n  path: /v1/customers\n  body: { email: "ada.${unique}@example.com" }\n';

describe("errors in service.yaml", () => {
  it.each([
    ["platfrom: {}", "service.yaml:1:1: platfrom: unknown key; did you mean platform?"],
    ["forward:\n  retrys: 1", "service.yaml:2:3: forward.retrys: unknown key; did you mean retries?"],
    ["platform: { foo: 1 }", "platform.foo: unknown key; known are url, port, database, private_targets"],
    ["forward:\n  retries: many", 'service.yaml:2:12: forward.retries: must be a whole number, not the string "many"'],
    ["forward: { retries: 101 }", "service.yaml:1:21: forward.retries: must be at most 100"],
    ["forward: { to: ftp://x }", 'service.yaml:1:16: forward.to: cannot forward to "ftp://x": use http:// or https://'],
    [
      "forward: { routes: { ordr.*: 3000 } }",
      "service.yaml:1:22: forward.routes.ordr.*: unknown event type; did you mean order.*?",
    ],
    ["forward: { events: [order.*, nope.x] }", 'service.yaml:1:20: forward.events: "nope.x" is not an event type.'],
    ["forward: { events: [order.*, !order.created] }", 'service.yaml:1:30: "!order.created" must be in quotes'],
    ["env: .env", 'service.yaml:1:6: env: must be keys and values, not the string ".env"'],
    ["env: { secret: MY-SECRET }", "service.yaml:1:16: env.secret: must be the name of a variable"],
    ["platform: { url: https://x.example, port: 1 }", "service.yaml:1:37: platform.port: cannot be combined with url"],
    [
      "forward:\n  events: order.created",
      'forward.events: must be a list, not the string "order.created", for example ["order.*","!order.created"]',
    ],
    ["run: [npm]", "service.yaml:1:6: run: must be a string, not a list"],
    ["run:", "service.yaml:1:5: run: must be a string, not empty"],
    ["run: a\nrun: b", "service.yaml:2:1: this key is already set above"],
    ['forward:\n  events: [["a"], b\nrun: x', "service.yaml:2:11: [ is not closed"],
    ["env: { file: .env\nrun: x", "service.yaml:1:6: { is not closed"],
    ['env: { file: ".env }\nrun: x\n', 'service.yaml:1:14: " is not closed'],
    ["[1", "service.yaml:1:1: [ is not closed"],
    ["run: npm: dev", 'service.yaml:1:6: a value with ": " needs quotes'],
    ["run: @x", "service.yaml:1:6: a value that begins with @ needs quotes"],
    [
      "schemes:\n  acme:\n    signed: body\n    signature: { header: x, encoding: hex }",
      "service.yaml:3:13: schemes.acme.signed: must contain {body}",
    ],
    [
      "schemes:\n  acme:\n    signed: '{body}'\n    signature: { header: x, encoding: hx }",
      'service.yaml:4:39: schemes.acme.signature.encoding: must be hex or base64, not the string "hx"',
    ],
    ["schemes:\n  acme:\n    signed: '{body}'", "service.yaml:2:3: schemes.acme: the key signature is missing"],
    ["schemes: { a: { signd: x } }", "service.yaml:1:17: schemes.a.signd: unknown key; did you mean signed?"],
    ["schemes: { stripe: {} }", "service.yaml:1:12: schemes.stripe: Stripe has this name; choose another one"],
    [
      "schemes: { a: { signed: '{body}', signature: { header: 'a b', encoding: hex } } }",
      "service.yaml:1:56: schemes.a.signature.header: is not a valid header name",
    ],
    ["- run", "service.yaml:1:1: the file: must be keys and values, not a list"],
  ])("%j is reported with its line", async (text, line) => {
    const project = await makeProject({ "service.yaml": text });
    const { exitCode, stderr } = await project.service(["dev"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(line) });
  });

  it("are reported all at once", () => {
    expect(() => parseProject("a: 1\nb: 2", ".")).toThrow("service.yaml has 2 errors");
  });

  it("do not include a target that is only a port", () => {
    const project = parseProject("forward: { to: 3000, routes: { order.*: 3001 } }", ".");
    expect(project).toEqual({ forward: { to: 3000, routes: { "order.*": 3001 } } });
    expect(() => parseProject("forward: { to: 70000 }", ".")).toThrow("service.yaml has an error");
  });

  it("do not include keys that begin with x-", () => {
    expect(parseProject("x-anchors: &to { to: web:3000 }\nforward: *to", ".")).toMatchObject({
      forward: { to: "web:3000" },
    });
  });
});

describe("commands in the folder of service.yaml", () => {
  it("use its platform and API key, unless a flag or a variable overrides them", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }" });
    const dev = startDev(project);
    await dev.waitFor(READY);
    const { stdout } = await project.service(["trigger", "customer.created", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "customer.created" });
    const list = await project.service(["config", "list", "--json"]);
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({ key: "base_url", value: `http://127.0.0.1:${project.port}`, source: "service.yaml" }),
    );
    const link = await project.service(["serve", "link"]);
    expect(link.stdout).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${project.port}/`));
    const elsewhere = await project.service(["whoami", "--json"], on.platform.env);
    expect(JSON.parse(elsewhere.stdout)).toMatchObject({ account: { id: on.platform.ready.account } });
  });

  it("do not send a key from the environment to a server that is only in the file", async () => {
    const project = await makeProject({ "service.yaml": "platform: { url: https://evil.example }" });
    const { exitCode, stderr } = await project.service(["trigger", "order.completed"], {
      SERVICE_API_KEY: on.platform.sandboxKey,
    });
    expect(exitCode).toBe(4);
    expect(stderr).toContain(
      "The key from SERVICE_API_KEY was not sent: the URL https://evil.example comes only from service.yaml",
    );
  });

  it("ignore errors that do not concern the platform", async () => {
    const project = await makeProject({
      "service.yaml": "platform: { port: PORT }\nforward: { to: 70000, events: [!order.created] }",
    });
    const dev = startDev(project);
    expect(await dev.ended).toBe(2);
    const { stdout } = await project.service(["config", "get", "base_url"]);
    expect(stdout).toContain(`http://127.0.0.1:${project.port}`);
  });

  it("fail for errors that concern the platform, unless the URL comes from elsewhere", async () => {
    const project = await makeProject({ "service.yaml": "platfrom: { port: PORT }" });
    const { exitCode, stderr } = await project.service(["customers", "list"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("service.yaml:1:1: platfrom: unknown key; did you mean platform?");
    expect((await project.service(["whoami", "--json"], on.platform.env)).exitCode).toBe(0);
    expect((await project.service(["config", "get", "profile"])).stdout).toContain("default");
  });

  it("ignore a Kubernetes manifest of the same name", async () => {
    const project = await makeProject({ "service.yaml": "apiVersion: v1\nkind: Service" });
    expect((await project.service(["whoami", "--json"], on.platform.env)).exitCode).toBe(0);
    const { stderr } = await project.service(["dev"]);
    expect(stderr).toContain("service.yaml is a Kubernetes manifest");
  });

  it("listen as configured under forward, unless flags override it", async () => {
    let secret = "";
    const receiver = await startReceiver(() => secret);
    const { port } = new URL(receiver.url);
    const file = `forward: { to: 'localhost:${port}/hook', events: ['order.*', '!order.created'] }\nenv: { file: .env.local }`;
    const project = await makeProject({ "service.yaml": file });
    const service = (...args: string[]) => project.service(args, on.platform.env);
    const trigger = `${process.execPath} ${process.cwd()}/bin/service.js trigger order.completed --wait`;
    const ran = await service("listen", "--json", "--", "sh", "-c", `${trigger} >&2`);
    const records = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records[0]).toMatchObject({ event: "ready", forward_to: `http://localhost:${port}/hook` });
    expect(records[0]!["subscriptions"]).not.toContain("order.created");
    secret = String(records[0]!["secret"]);
    expect(project.read(".env.local")).toBe(`SERVICE_WEBHOOK_SECRET=${secret}\n`);
    const given = await service("listen", "--json", "--forward-to", "1/other", "--events", "*", "--", "true");
    expect(JSON.parse(given.stdout.split("\n")[0]!)).toMatchObject({
      forward_to: "http://localhost:1/other",
      subscriptions: ["*"],
    });
    await receiver.close();
  });
});

describe("the seed of service dev", () => {
  const SEEDED = { "service.yaml": "platform: { port: PORT }\nseed: fixtures/seed.yaml", "fixtures/seed.yaml": CALL };

  it("is sent once per database", async () => {
    const project = await makeProject(SEEDED);
    const runs = [];
    for (let run = 0; run < 3; run++) {
      if (run === 2) project.write("fixtures/seed.yaml", CALL + CALL.replace("ada", "bob"));
      const dev = startDev(project);
      await dev.waitFor(READY);
      const { stdout } = await project.service(["customers", "list", "--json"]);
      runs.push((JSON.parse(stdout) as unknown[]).length);
      expect(await dev.interrupt()).toBe(0);
      if (run === 0) expect(dev.output()).toContain("seed     │ ✓ 1 call of fixtures/seed.yaml sent");
      if (run === 1)
        expect(dev.output()).toContain("seed     │ · fixtures/seed.yaml was already sent to this database");
      if (run === 2)
        expect(dev.output()).toContain("fixtures/seed.yaml has changed since it was sent to this database");
    }
    expect(runs).toEqual([1, 1, 1]);
    project.write("service.yaml", "platform: { port: PORT, database: other.db }\nseed: fixtures/seed.yaml");
    const dev = startDev(project);
    await dev.waitFor("seed     │ ✓ 2 calls of fixtures/seed.yaml sent");
  });

  it("is sent again after a reset of the sandbox if `reseed` is true, but not into a restored state", async () => {
    const project = await makeProject({ ...SEEDED, "service.yaml": `${SEEDED["service.yaml"]}\nreseed: true` });
    const dev = startDev(project);
    await dev.waitFor(READY);
    const times = () => dev.output().split("1 call of fixtures/seed.yaml sent").length - 1;
    const customers = async () =>
      (JSON.parse((await project.service(["customers", "list", "--json"])).stdout) as []).length;
    expect((await project.service(["sandbox", "save", "seeded"])).exitCode).toBe(0);
    expect((await project.service(["sandbox", "reset", "--yes"])).exitCode).toBe(0);
    await expect.poll(times).toBe(2);
    expect(await customers()).toBe(1);
    expect((await project.service(["sandbox", "restore", "seeded", "--yes"])).exitCode).toBe(0);
    await dev.waitFor("the sandbox is not empty");
    expect([times(), await customers()]).toEqual([2, 1]);
  });

  it("removes what it created if it fails, and is sent again at the next start", async () => {
    const failing = `${CALL}- method: POST\n  path: /v1/orders\n  body: { amount: -1 }\n`;
    const project = await makeProject({ ...SEEDED, "fixtures/seed.yaml": failing });
    const failed = startDev(project);
    expect(await failed.ended).toBe(2);
    expect(failed.output()).toContain("Call 2 of 2 failed: POST /v1/orders");
    expect(failed.output()).toMatch(/seed {5}│ .*DELETE/);
    project.write("fixtures/seed.yaml", CALL);
    const dev = startDev(project);
    await dev.waitFor("seed     │ ✓ 1 call of fixtures/seed.yaml sent");
  });
});

describe("a change of service.yaml while service dev runs", () => {
  it("restarts the listener without losing events, unless the file is invalid", async () => {
    let secret = "";
    const [first, second] = [await startReceiver(() => secret), await startReceiver(() => secret)];
    const file = (url: string): string =>
      `platform: { port: PORT }\nforward: { to: '${url}' }\nenv: { file: .env.local }\n`;
    const project = await makeProject({ "service.yaml": file(first.url) });
    const dev = startDev(project);
    await dev.waitFor(READY);
    secret = /SERVICE_WEBHOOK_SECRET=(\S+)/.exec(project.read(".env.local"))![1]!;
    const key = /SERVICE_API_KEY=(\S+)/.exec(project.read(".env.local"))![1]!;
    let count = 0;
    const trigger = async (): Promise<void> => {
      const { status } = await fetch(`http://127.0.0.1:${project.port}/v1/customers`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ email: `ada.${count++}@example.com` }),
      });
      expect(status).toBe(201);
    };
    await trigger();
    await first.until(() => first.events.length === 1);
    project.write("service.yaml", "platform: { port: PORT }\nforwad: {}\n");
    await dev.waitFor("service.yaml:2:1: forwad: unknown key; did you mean forward?");
    await trigger();
    await first.until(() => first.events.length === 2);
    project.write("service.yaml", file(second.url));
    await trigger();
    await dev.waitFor(`✓ forwarding events to ${second.url}`);
    await trigger();
    await second.until(() => first.events.length + second.events.length === 4);
    expect(new Set([...first.ids(), ...second.ids()]).size).toBe(4);
    project.write("service.yaml", `${file(second.url)}run: node app.js\n`);
    await dev.waitFor("restart `service dev` to apply the new run");
    await Promise.all([first.close(), second.close()]);
  });
});

describe("service dev init", () => {
  it("writes a valid file with --yes, its schema, and .gitignore entries", async () => {
    const project = await makeProject({ "package.json": '{"scripts":{"dev":"vite"}}' });
    mkdirSync(join(project.folder, ".git"));
    const { exitCode, stdout } = await project.service(["dev", "init", "--yes"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${join(project.folder, "service.yaml")}\n` });
    expect(parseProject(project.read("service.yaml"), project.folder)).toMatchObject({
      run: "npm run dev",
      env: { file: ".env.local" },
    });
    const [, schema] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(project.read("service.yaml"))!;
    const shipped = readFileSync(new URL("../../docs/service.schema.json", import.meta.url), "utf8");
    expect(JSON.parse(project.read(schema!))).toEqual(JSON.parse(shipped));
    expect(project.read(".gitignore")).toBe(".env.local\n");
  });

  it("does not replace a file without confirmation", async () => {
    const project = await makeProject({ "service.yaml": "run: mine\n" });
    const { exitCode, stderr } = await project.service(["dev", "init", "--yes"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("To replace it, pass --force."),
    });
    expect(await runInTerminal(["dev", "init", "--yes"], { cwd: project.folder, env: project.env }).ended).toBe(2);
    const terminal = runInTerminal(["dev", "init"], { cwd: project.folder, env: project.env });
    await terminal.waitFor("Replace it? (y/N)");
    terminal.type(ENTER);
    expect(await terminal.ended).toBe(1);
    expect(project.read("service.yaml")).toBe("run: mine\n");
    expect((await project.service(["dev", "init", "--yes", "--force", "--run", "none"])).exitCode).toBe(0);
    expect(parseProject(project.read("service.yaml"), project.folder)?.run).toBeUndefined();
  });

  it("asks in a terminal; Ctrl-C writes nothing", async () => {
    const project = await makeProject({});
    const stopped = runInTerminal(["dev", "init"], { cwd: project.folder, env: project.env });
    await stopped.waitFor("Where your app receives");
    stopped.type(CTRL_C);
    expect(await stopped.ended).toBe(130);
    expect(existsSync(join(project.folder, "service.yaml"))).toBe(false);
    const init = runInTerminal(["dev", "init", "--url", "https://sandbox.example.com"], {
      cwd: project.folder,
      env: project.env,
    });
    for (const [question, answer] of [
      ["Where your app receives", "4000/hooks"],
      ["Command that starts", "make dev"],
      ["File for secret", "none"],
    ] as const) {
      await init.waitFor(question);
      init.type(`${answer}${ENTER}`);
    }
    expect(await init.ended).toBe(0);
    expect(parseProject(project.read("service.yaml"), project.folder)).toEqual({
      platform: { url: "https://sandbox.example.com" },
      forward: { to: "4000/hooks" },
      run: "make dev",
    });
  });

  it("asks what docs/dev.md shows", async () => {
    const project = await makeProject({ "package.json": '{"scripts":{"dev":"node server.js"}}', ".git/HEAD": "" });
    const [, transcript] = /\n```text\n(✓ Where[^]*?)\nNext:/.exec(readFileSync("docs/dev.md", "utf8"))!;
    const init = runInTerminal(["dev", "init"], { cwd: project.folder, env: project.env });
    const lines = transcript!.split("\n");
    for (const question of ["Where your app", "Command that starts", "File for secret"]) {
      await init.waitFor(question);
      init.type(ENTER);
    }
    expect(await init.ended).toBe(0);
    for (const line of lines) expect(init.text()).toContain(line);
  });

  it.each([
    [["--forward-to", "ftp://x"], '--forward-to: cannot forward to "ftp://x": use http:// or https://'],
    [["--forward-to", "abc"], '--forward-to: "abc" has no port: give a host and a port, for example localhost:3000'],
    [["--url", "nope"], '--url: "nope" is not a URL'],
  ])("rejects %j and writes nothing", async (flags, message) => {
    const project = await makeProject({});
    const { exitCode, stderr } = await project.service(["dev", "init", "--yes", ...flags]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
    expect(existsSync(join(project.folder, "service.yaml"))).toBe(false);
  });

  it("warns about a target on another machine", async () => {
    const project = await makeProject({});
    const { exitCode, stderr } = await project.service(["dev", "init", "--yes", "--forward-to", "app.example:3000"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining("Warning: app.example is not this machine"),
    });
  });

  it("asks again after an invalid answer", async () => {
    const project = await makeProject({});
    const init = runInTerminal(["dev", "init", "--run", "none", "--write-env", "none"], {
      cwd: project.folder,
      env: project.env,
    });
    await init.waitFor("Where your app receives");
    init.type(`abc${ENTER}`);
    await init.waitFor('"abc" has no port');
    init.type(`:3000${ENTER}`);
    expect(await init.ended).toBe(0);
    expect(parseProject(project.read("service.yaml"), project.folder)).toMatchObject({
      platform: { port: "auto" },
      forward: { to: "abc:3000" },
    });
  });
});

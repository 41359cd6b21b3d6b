import { cpSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { FILES, makeProject, startDev } from "./support/dev-project.ts";

describe("an app that crashes in a terminal", () => {
  const crashing = async (args: readonly string[] = []) => {
    const project = await makeProject({ ...FILES, "app.js": "process.exit(3);" });
    return runInTerminal(["dev", "--no-ui", ...args], { cwd: project.folder, env: project.env });
  };

  it("can be restarted with r, and everything stopped with q", async () => {
    const terminal = await crashing();
    await terminal.waitFor("exited with code 3. Press r to restart it, q to quit");
    terminal.type("?");
    await terminal.waitFor(/Press r [^]*Press r /);
    terminal.type("r");
    await terminal.waitFor(/\$ node app\.js[^]*\$ node app\.js[^]*Press r /);
    terminal.type("q");
    expect(await terminal.ended).toBe(3);
  });

  it("receives the missed events once it is restarted", async () => {
    const app = `const { existsSync, writeFileSync } = require("node:fs");
      const isSecond = existsSync("second");
      writeFileSync("second", "");
      require("node:http").createServer((request, response) => {
        console.log("got one"); request.resume(); response.end();
      }).listen(APP_PORT, "127.0.0.1", () => { if (!isSecond) setTimeout(() => process.exit(3), 100); });`;
    const project = await makeProject({ ...FILES, "app.js": app });
    const terminal = runInTerminal(["dev", "--no-ui"], { cwd: project.folder, env: project.env });
    await terminal.waitFor("Press r to restart it");
    expect((await project.service(["customers", "create", "--email", "ada@example.com"])).exitCode).toBe(0);
    await terminal.waitFor(/customer\.created[^]* waits until the app runs\./);
    expect(terminal.text()).not.toContain("got one");
    const jq = ".findings[0] | [.code, .summary, .action] | @tsv";
    const why = () => project.service(["why", "--json", "--jq", jq]);
    await expect
      .poll(async () => (await why()).stdout, { timeout: 30_000 })
      .toMatch(
        /^not_forwarded\tThe listener has the event and waits until the app runs\tThe app exited with code \d+: press r/,
      );
    terminal.type("r");
    await terminal.waitFor("got one");
    expect(terminal.text()).not.toContain("connection_refused");
    terminal.type(CTRL_C);
    await terminal.ended;
  });

  it("names in the next session what its last one did not forward", async () => {
    const app = `require("node:http").createServer(() => process.exit(3)).listen(APP_PORT, "127.0.0.1");`;
    const project = await makeProject({ ...FILES, "app.js": app });
    for (const isFirst of [true, false]) {
      const terminal = runInTerminal(["dev", "--no-ui"], { cwd: project.folder, env: project.env });
      await terminal.waitFor("Press Ctrl-C to stop everything");
      if (isFirst) {
        await project.service(["customers", "create", "--email", "ada@example.com"]);
        await terminal.waitFor("Press r to restart it, q to quit");
        terminal.type("q");
      } else {
        await terminal.waitFor(/skipped\.\s[^]*To receive[^]* service events\s[^]*replay --since /);
        terminal.type(CTRL_C);
      }
      await terminal.ended;
    }
  });

  it("is not started while another program listens on its port", async () => {
    const project = await makeProject(FILES);
    const other = createServer().listen(project.appPort, "127.0.0.1");
    onTestFinished(() => void other.close());
    const dev = startDev(project);
    expect(await dev.ended).toBe(1);
    expect(dev.output()).toContain(`localhost:${project.appPort} is already in use by`);
    expect(dev.output()).not.toContain("$ node app.js");
  });

  it("stops everything with --exit-with-app", async () => {
    const terminal = await crashing(["--exit-with-app"]);
    expect(await terminal.ended).toBe(3);
    expect(terminal.text()).not.toContain("Press r");
  });
});

describe("platform.port auto", () => {
  it("gives each working copy its own port, and keeps it", async () => {
    const files = { "service.yaml": "platform: { port: auto }" };
    const [first, second] = [await makeProject(files), await makeProject(files)];
    const early = await first.service(["customers", "list"]);
    expect(early).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("To start it: service dev") as string });
    const running = [startDev(first), startDev(second)];
    for (const dev of running) await dev.waitFor(/✓ Ready after/);
    expect((await first.service(["customers", "create", "--email", "ada@example.com"])).exitCode).toBe(0);
    expect((await first.service(["customers", "list", "--json", "--jq", "length"])).stdout).toBe("1\n");
    expect((await second.service(["customers", "list", "--json", "--jq", "length"])).stdout).toBe("0\n");
    for (const dev of running) expect(await dev.interrupt()).toBe(0);
    const [port = ""] = first.read(".service/port").split("\n");
    const again = startDev(first);
    await again.waitFor(/✓ Ready after/);
    expect(again.output()).toContain(`ready at http://127.0.0.1:${port}`);
    // Below the folder, commands work on the same project; in a copy of it, on another one.
    mkdirSync(join(first.folder, "src/lib"), { recursive: true });
    const below = await runCli(["customers", "list", "--json", "--jq", "length"], {
      cwd: join(first.folder, "src/lib"),
      env: first.env,
    });
    expect(below.stdout).toBe("1\n");
    const copy = `${first.folder}-copy`;
    cpSync(first.folder, copy, { recursive: true });
    const there = await runCli(["customers", "list"], { cwd: copy, env: first.env });
    expect(there).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("has not been started yet") as string });
    await again.interrupt();
    const stopped = await first.service(["customers", "list"]);
    expect(stopped.stderr).toContain("Start the platform with `service dev`");
  });
});

import { describe, expect, it } from "vitest";
import { BIN } from "../support/run-cli.ts";
import { openScreen, type Screen } from "../support/screen.ts";
import { CTRL_C } from "../support/terminal.ts";
import { APP, type DevProject, FILES, isRunning, makeProject, platformPid } from "./support/dev-project.ts";
import { ESCAPE, rowsOf, selectedRow, UP } from "./support/listen-screen.ts";

const open = ({ folder, env }: DevProject, size: { columns?: number; rows?: number } = {}): Screen =>
  openScreen(process.execPath, [BIN, "dev"], { cwd: folder, env, ...size });

async function trigger(project: DevProject, type: string): Promise<string> {
  const { stdout, exitCode } = await project.service(["trigger", type, "-q"]);
  expect(exitCode).toBe(0);
  return stdout.trim();
}

/** Starts it, and waits until the app listens. */
async function ready(project: DevProject, size?: { columns?: number; rows?: number }): Promise<Screen> {
  const screen = open(project, size);
  await screen.shows("To trigger an event: ");
  return screen;
}

/** An app that crashes at its first event. */
const CRASHING = APP.replace(
  "response.end();",
  `if (require("node:fs").existsSync("second")) return response.end();
    writeFileSync("second", "");
    console.error("\\u001b[38;5;196mTypeError\\u001b[0m: cannot read the order\\n\\tat app.js");
    process.exit(3);`,
);

describe("the screen of service dev", () => {
  it("lists events above the output of the app and the platform", async () => {
    const project = await makeProject(FILES);
    const screen = await ready(project);
    expect(screen.isAlternate()).toBe(true);
    const id = await trigger(project, "order.completed");
    await screen.shows(new RegExp(`^❯ [\\d:]{8} {2}200 +order\\.completed +[\\d.]+ m?s +${id}`, "m"));
    await screen.shows(/^app {6}│ received order\.completed at \/webhooks$/m);
    await screen.shows(
      /^platform │ [\d:]{8} {2}200 {2}POST {3}\/v1\/orders\/ord_\w+\/complete\nplatform │ +req_\w+ {2}[\d.]+ ms$/m,
    );
    await screen.shows("2 received  2 forwarded  0 failed");
    expect(screen.text()).not.toContain("whsec_");
    screen.type("q");
    expect(await screen.ended).toBe(130);
    expect(screen.isAlternate()).toBe(false);
    expect(screen.text()).toContain("Summary  2 received, 2 forwarded, 0 failed");
    expect(project.read("pids").split(" ").map(Number).filter(isRunning)).toEqual([]);
  });

  it("shows the last lines of an app that crashes, and restarts it with r", async () => {
    const project = await makeProject({ ...FILES, "app.js": CRASHING });
    const screen = await ready(project, { columns: 60, rows: 20 });
    screen.type("/order");
    const id = await trigger(project, "order.completed");
    await screen.shows("✗ The app exited with code 3");
    await screen.shows("r restart");
    await screen.shows(/^app {6}│ TypeError: cannot read the order\napp {6}│ {5}at app\.js$/m);
    screen.type("r");
    await screen.shows(new RegExp(`^❯ [\\d:]{8} {2}200 +order\\.completed`, "m"));
    await screen.shows("● Connected");
    expect(screen.text()).not.toContain("exited with code 3");
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(id).toMatch(/^evt_/);
  });

  it("says on w, and in `service why`, that a delivery waits for the app that crashed", async () => {
    const project = await makeProject({ ...FILES, "app.js": CRASHING });
    const screen = await ready(project, { columns: 120, rows: 40 });
    const id = await trigger(project, "customer.created");
    await screen.shows("✗ The app exited with code 3");
    const { stdout } = await project.service(["why", id]);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /^Cause: Your application crashed while it handled the event; the listener waits until the app runs\. .* The app exited with code 3 \(TypeError: cannot read the order\): press r in `service dev` to restart it, q to quit\. /,
    );
    expect(stdout).not.toContain("service why");
    screen.type("w");
    await screen.shows("│ Cause: Your application crashed while it handled the event");
    await screen.shows("│ The app exited with code 3 (TypeError: cannot read the order)");
    await screen.shows("next attempt once the app runs");
    screen.type("r");
    await screen.shows("1 forwarded");
    expect(screen.text()).not.toContain("once the app runs");
  });

  it("leaves the last lines of a crash on the terminal, and exits with the app's code, with q", async () => {
    const project = await makeProject({ ...FILES, "app.js": CRASHING });
    const screen = await ready(project, { columns: 120, rows: 40 });
    await trigger(project, "customer.created");
    await screen.shows("q quit");
    await screen.shows("✗ The app exited with code 3");
    screen.type("q");
    expect(await screen.ended).toBe(3);
    expect(screen.isAlternate()).toBe(false);
    expect(screen.text()).toContain("app      │ TypeError: cannot read the order");
  });

  it("scrolls through the output with tab, while more arrives", async () => {
    const app = `${APP}\nfor (let i = 1; i <= 10000; i += 1) console.log("line " + i);`;
    const project = await makeProject({ ...FILES, "app.js": app });
    const screen = open(project);
    await screen.shows("● Connected");
    screen.type("\t");
    await screen.shows("tab back");
    await screen.shows(/line 10000$/m);
    screen.type(UP.repeat(20));
    await screen.shows(/^ LOG +20 newer ↓/m);
    const before = screen.lines().slice(3, 10);
    await trigger(project, "customer.created");
    await screen.shows(/^ LOG +2\d newer ↓/m);
    expect(screen.lines().slice(3, 10)).toEqual(before);
    screen.resize(50, 15);
    screen.type("G");
    await screen.shows("received customer.created");
    screen.type(ESCAPE);
    await screen.shows(/^❯ [\d:]{8} {2}200 +customer\.created/m);
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
  });

  it("restores the terminal and explains the end if the platform is killed", async () => {
    const project = await makeProject(FILES);
    const screen = await ready(project);
    process.kill(await platformPid(project), "SIGKILL");
    expect(await screen.ended).toBe(1);
    await screen.shows("Error: The platform was ended by SIGKILL; everything else was stopped");
    expect(screen.isAlternate()).toBe(false);
  });

  it("keeps the list and a pause while the listener restarts", async () => {
    const project = await makeProject(FILES);
    const screen = await ready(project);
    const first = await trigger(project, "customer.created");
    await screen.shows(first);
    screen.type("p");
    await screen.shows("‖ Paused");
    project.write("service.yaml", FILES["service.yaml"].replace("/webhooks", "/other"));
    await screen.shows(/→ localhost:\d+\/other/);
    await trigger(project, "customer.deleted");
    await screen.shows(/^❯ [\d:]{8} {2}… +customer\.(created|deleted)/m);
    screen.type("p");
    await screen.shows("at /other");
    await expect.poll(() => rowsOf(screen).length).toBeGreaterThan(2);
    expect(selectedRow(screen)).toContain("200");
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
  });
});

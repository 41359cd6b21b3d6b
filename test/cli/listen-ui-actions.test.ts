import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verify } from "../../src/webhooks/index.ts";
import { listen as listenOn } from "../client/support/scripted-server.ts";
import { startListener } from "../support/listener.ts";
import type { Screen, ScreenOptions } from "../support/screen.ts";
import { listenOnScreen, rowsOf, UP } from "./support/listen-screen.ts";
import { createFolder, listening } from "./support/listening.ts";

const cli = listening();

const listen = ({ env, ...options }: ScreenOptions = {}): Promise<Screen> =>
  listenOnScreen(["--forward-to", cli.receiver.url], { env: { ...cli.platform.env, ...env }, ...options });

const until = (condition: () => boolean) => expect.poll(condition).toBe(true);
const receivedTimes = (id: string) => cli.receiver.events.filter((event) => event.id === id).length;

/** A program that an editor variable can name. */
function script(source: string): string {
  const file = join(createFolder(), "editor.mjs");
  writeFileSync(file, source);
  return `"${process.execPath}" "${file}"`;
}

describe("a key of service listen", () => {
  it("resends the selected event to the receiver, as another attempt in its row", async () => {
    const screen = await listen();
    const [first = ""] = await cli.trigger("customer.created");
    await cli.trigger("customer.created");
    await screen.shows("2 forwarded");
    screen.type(UP);
    await screen.shows(new RegExp(`❯ .*${first}`));
    screen.type("r");
    await screen.shows(new RegExp(`❯ [\\d:]+ +204 +customer.created ×2 +[\\d.]+ m?s +${first}`));
    await until(() => receivedTimes(first) === 2);
    expect(rowsOf(screen)).toHaveLength(2);
    expect(screen.text()).toContain("2 received  2 forwarded  0 failed");
  });

  it("counts resends as further attempts of the event", async () => {
    const attempts: (string | string[] | undefined)[] = [];
    const receiver = await listenOn(
      createServer((request, response) => {
        attempts.push(request.headers["service-delivery-attempt"]);
        response.writeHead(500).end();
      }),
    );
    const args = ["--forward-to", receiver, "--retries", "1"];
    const screen = await listenOnScreen(args, { env: cli.platform.env });
    await cli.trigger("customer.created");
    await screen.shows("0 forwarded  1 failed");
    screen.type("\r");
    for (const number of [3, 4]) {
      screen.type("r");
      await screen.shows(new RegExp(`^ Attempt ${number} .* 500 `, "m"));
    }
    expect(attempts).toEqual(["1", "2", "3", "4"]);
  });

  it("explains a failure as service why does, in the details", async () => {
    const receiver = await listenOn(createServer((_, response) => void response.writeHead(500).end("no table")));
    const args = ["--forward-to", receiver, "--retries", "0"];
    const screen = await listenOnScreen(args, { env: cli.platform.env });
    screen.type("w");
    await screen.shows("No event is selected");
    const [id = ""] = await cli.trigger("customer.created");
    await screen.shows("1 failed");
    screen.type("w");
    await screen.shows(/DETAILS[^]*^ Cause: Your application responded with 500/m);
    await screen.shows("then retry: press r.");
    const { stdout } = await cli.service(["why", id, "--json", "--jq", ".findings[0].summary"]);
    expect(screen.text().replaceAll(/\s+/g, " ")).toContain(`Cause: ${stdout.trim()}`);
    screen.type("q");
    const row = String.raw`^  \d\d:\d\d:\d\d  \d+ +customer\.created.* ${id}`;
    await screen.shows(new RegExp(`${row}[^]*Summary  1 received[^]*^To explain the last failure: .*why ${id}$`, "m"));
  });

  it("explains first what failed at its own target, and counts the other receivers that failed", async () => {
    const [own, other] = [500, 503].map((status) =>
      createServer((_, response) => void response.writeHead(status).end()),
    );
    const { env } = cli.platform;
    const listener = await startListener(env, ["--forward-to", await listenOn(other!), "--retries", "0"]);
    const screen = await listenOnScreen(["--forward-to", await listenOn(own!), "--retries", "0"], { env });
    const [id = ""] = await cli.trigger("customer.created");
    await listener.record(({ event }) => event === "forwarded");
    await screen.shows("1 failed");
    await expect
      .poll(async () => (await cli.service(["deliveries", "list", "--event", id, "-q"])).stdout)
      .toMatch(/\n.*\n/);
    screen.type("w");
    await screen.shows(/DETAILS[^]*^ Cause: .* responded with 500/m);
    await screen.shows(`1 other receiver failed: service why ${id}`);
    expect(screen.text()).not.toContain("503");
    await listener.interrupt();
  });

  it("opens an editor on a restored terminal, and sends the saved event with a new signature", async () => {
    const report = join(createFolder(), "stty");
    const editor = script(`
      import { execSync } from "node:child_process";
      import { readFileSync, writeFileSync } from "node:fs";
      const file = process.argv[2];
      writeFileSync(${JSON.stringify(report)}, execSync("stty -a", { stdio: ["inherit", "pipe", "inherit"] }));
      console.log("the editor runs");
      process.stdin.once("data", () => {
        const event = JSON.parse(readFileSync(file, "utf8"));
        event.data.object.amount = 4242;
        writeFileSync(file, JSON.stringify(event));
        process.exit(0);
      });`);
    const screen = await listen({ env: { EDITOR: editor } });
    const [id = ""] = await cli.trigger("order.created");
    await screen.shows("1 forwarded");
    screen.type("e");
    await screen.shows("the editor runs");
    expect(screen.isAlternate()).toBe(false);
    expect(screen.isCursorHidden()).toBe(false);
    expect(readFileSync(report, "utf8")).toMatch(/ icanon .* echo /s);
    // Events arrive meanwhile, and are shown afterwards.
    const [other = ""] = await cli.trigger("customer.created");
    await cli.got([other]);
    screen.type("x\r");
    await screen.shows(/❯ .* 204 +order.created .* edited and resent/);
    await screen.shows(other);
    expect(screen.isAlternate()).toBe(true);
    await until(() => receivedTimes(id) === 2);
    const sent = cli.receiver.events.findLast((event) => event.id === id)!;
    expect(sent.data.object).toMatchObject({ amount: 4242 });
  });

  it("keeps numbers that JavaScript would round, in an edited event and in its fixture", async () => {
    const bodies: string[] = [];
    const receiver = await listenOn(
      createServer((request, response) => {
        let body = "";
        request
          .on("data", (chunk) => (body += String(chunk)))
          .on("end", () => {
            bodies.push(body);
            response.end();
          });
      }),
    );
    const number = "12345678901234567890.10";
    const editor = script(`
      import { readFileSync, writeFileSync } from "node:fs";
      const file = process.argv[2];
      writeFileSync(file, readFileSync(file, "utf8").replace(/"amount": \\d+/, '"amount": ${number}'));`);
    const cwd = createFolder();
    const env = { ...cli.platform.env, EDITOR: editor };
    const screen = await listenOnScreen(["--forward-to", receiver], { env, cwd });
    await cli.trigger("order.created");
    await screen.shows("1 forwarded");
    screen.type("e");
    await until(() => bodies.length === 2);
    expect(bodies[1]).toBe(bodies[0]!.replace(/"amount":\d+/, `"amount":${number}`));
    await screen.shows(/❯ .* edited and resent/);
    screen.type("t");
    await screen.shows("Saved order.created.json.");
    expect(readFileSync(join(cwd, "order.created.json"), "utf8")).toContain(`"amount": ${number},`);
  });

  it("sends nothing if the editor fails or its file is not JSON", async () => {
    const editor = script(`import { writeFileSync } from "node:fs"; writeFileSync(process.argv[2], "{");`);
    const screen = await listen({ env: { EDITOR: editor } });
    const [id = ""] = await cli.trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("e");
    await screen.shows("Nothing was sent: the file is not JSON");
    const failing = await listen({ env: { EDITOR: "false" } });
    await cli.trigger("customer.created");
    await failing.shows("1 forwarded");
    failing.type("e");
    await failing.shows("Nothing was sent: the editor false exited with 1");
    expect(receivedTimes(id)).toBe(1);
    expect(rowsOf(failing)).toHaveLength(1);
  });

  it("opens the editor again with the error, and keeps the text", async () => {
    const editor = script(`
      import { readFileSync, writeFileSync } from "node:fs";
      const text = readFileSync(process.argv[2], "utf8");
      const isWrong = text.startsWith("// The file is not JSON: ");
      writeFileSync(process.argv[2], isWrong ? text.replace('"edited@example.com"]', '"edited@example.com"')
        : text.replace(/"email": .*"/, '"email": "edited@example.com"]'));`);
    const screen = await listen({ env: { EDITOR: editor } });
    const [id = ""] = await cli.trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("e");
    await screen.shows(/204 +customer.created .* edited and resent/);
    const sent = cli.receiver.events.findLast((event) => event.id === id)!;
    expect(sent.data.object).toMatchObject({ email: "edited@example.com" });
  });

  it("sends nothing if the event was saved unchanged", async () => {
    const screen = await listen({ env: { EDITOR: "true" } });
    const [id = ""] = await cli.trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("e");
    await screen.shows("Nothing was sent: the payload is unchanged");
    expect(receivedTimes(id)).toBe(1);
  });

  it("copies the request as a cURL command that a receiver accepts", async () => {
    const screen = await listen();
    await cli.service(["customers", "create", "--email", "curl@example.com", "--name", 'It\'s "quoted" $HOME 日本']);
    await screen.shows("1 forwarded");
    screen.type("y");
    await screen.shows("Sent to the terminal's clipboard as cURL (OSC 52)");
    const [, encoded = ""] = /\u001b\]52;c;([A-Za-z0-9+/=]+)\u0007/.exec(screen.output()) ?? [];
    const command = Buffer.from(encoded, "base64").toString();
    const shell = spawnSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: "utf8" });
    const args = shell.stdout.split("\0").slice(0, -1);
    expect(args.slice(0, 3)).toEqual(["-X", "POST", cli.receiver.url]);
    expect(args.at(-2)).toBe("--data-raw");
    const header = args.find((arg) => arg.startsWith("Service-Signature: "))!.slice("Service-Signature: ".length);
    const event = verify({ payload: args.at(-1)!, header, secrets: cli.secret });
    expect(event.data.object).toMatchObject({ name: 'It\'s "quoted" $HOME 日本' });
  });

  it("saves a fixture that creates the same event, and never overwrites a file", async () => {
    const cwd = createFolder();
    const screen = await listen({ cwd });
    const name = "${unique} and $${ada.id}";
    await cli.service(["customers", "create", "--email", "fixture@example.com", "--name", name]);
    await screen.shows("1 forwarded");
    screen.type("t");
    await screen.shows("Saved customer.created.json.");
    screen.type("t");
    await screen.shows("Saved customer.created-2.json.");
    expect(readdirSync(cwd).toSorted()).toEqual(["customer.created-2.json", "customer.created.json"]);
    const original = cli.receiver.events.at(-1)!;
    const { exitCode, stderr } = await cli.service(["trigger", "--fixture", join(cwd, "customer.created.json")]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    await screen.shows("2 forwarded");
    const created = cli.receiver.events.at(-1)!;
    expect(created.id).not.toBe(original.id);
    expect({ type: created.type, data: created.data }).toEqual({ type: original.type, data: original.data });
    expect(created.data.object).toMatchObject({ name });
  });

  it("opens the event in the dashboard, or shows its URL", async () => {
    const screen = await listen({ columns: 120, env: { SSH_TTY: "/dev/pts/1" } });
    const [id = ""] = await cli.trigger("customer.created");
    await screen.shows("1 forwarded");
    screen.type("o");
    const url = `${cli.platform.baseUrl}/dashboard/sandbox/events/${id}`;
    await screen.shows(`Could not open a browser over SSH: ${url}`);
    const folder = createFolder();
    const opener = join(folder, "xdg-open");
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > "${folder}/opened"\n`);
    chmodSync(opener, 0o700);
    const env = { DISPLAY: ":0", PATH: `${folder}:${process.env["PATH"]}` };
    const desktop = await listen({ columns: 120, env });
    const [other = ""] = await cli.trigger("customer.created");
    await desktop.shows("1 forwarded");
    desktop.type("o");
    await desktop.shows(/Opened http/);
    const opened = join(folder, "opened");
    // The shell creates the file before it writes to it.
    await expect
      .poll(() => existsSync(opened) && readFileSync(opened, "utf8"))
      .toContain(`/dashboard/sandbox/events/${other}`);
  });

  it("explains why it cannot resend or copy without a target", async () => {
    const screen = await listenOnScreen([], { env: cli.platform.env });
    await cli.trigger("customer.created");
    await screen.shows("1 received");
    screen.type("r");
    await screen.shows("Cannot resend: start again with --forward-to");
    screen.type("y");
    await screen.shows("Cannot copy: no request was sent yet");
  });
});

import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { BIN } from "../support/run-cli.ts";
import { openScreen, type Screen, type ScreenOptions } from "../support/screen.ts";
import { listenOnScreen } from "./support/listen-screen.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver({ status: 200, body: "thanks" });
});
afterAll(() => receiver.close());

const listen = (args: readonly string[] = [], options: ScreenOptions = {}): Promise<Screen> =>
  listenOnScreen(["--forward-to", receiver.url, "--retries", "0", ...args], { env: cli.platform.env, ...options });

async function trigger(type: string): Promise<void> {
  expect((await cli.service(["trigger", type, "-q"])).exitCode).toBe(0);
}

describe("the screen of service listen", () => {
  it("waits while nothing listens on the target, and forwards once something does", async () => {
    const port = await freePort();
    const args = [BIN, "listen", "-f", `127.0.0.1:${port}`];
    const screen = openScreen(process.execPath, args, { env: cli.platform.env });
    await screen.shows("‖ Waiting");
    await trigger("customer.created");
    await screen.shows(/1 received {2}0 forwarded {2}0 failed {2}1 waiting$/m);
    const [, id = ""] = /(evt_\w+)/.exec(screen.text()) ?? [];
    expect((await cli.service(["why", id])).stdout).toContain(
      `The listener has the event and waits until something listens on 127.0.0.1:${port}.`,
    );
    const receiver = createServer((_request, response) => void response.writeHead(204).end());
    const start = () => new Promise<void>((resolve) => void receiver.listen(port, "127.0.0.1", resolve));
    await start();
    await screen.shows(new RegExp(`204 +customer.created .*${id}`));
    await screen.shows("● Connected");
    expect(screen.text()).not.toMatch(/Nothing listens|Events wait/);
    await new Promise((resolve) => void receiver.close(resolve));
    await trigger("customer.created");
    await screen.shows(/❯ [\d:]+ +refused↻ customer\.created/);
    await screen.shows(/0 failed {2}1 retrying$/m);
    await screen.shows(/Events wait until something listens on 127/);
    await start();
    await screen.shows("2 received  2 forwarded  0 failed");
    receiver.close();
  });

  it("suggests an event that it receives", async () => {
    const screen = await listen(["--events", "payment.*,!payment.created"]);
    await screen.shows(/service trigger payment\.(?!created)/);
  });

  it("suggests an event that --where accepts, and says what remains to be met", async () => {
    const screen = await listen(["--where", "data.object.email=x@example.com", "--where", "data.object.x=1"]);
    await screen.shows("service trigger customer.created --override email=x@example.com");
    await screen.shows("Its event is shown only if data.object.x=1.");
  });

  it("counts what --events and --where exclude, on the screen and in the summary", async () => {
    const screen = await listen(["--events", "customer.*", "--where", "data.object.email=x@example.com"]);
    await screen.shows("Waiting for events");
    await trigger("webhook_endpoint.ping");
    await screen.shows("0 received  1 filtered out  0 forwarded");
    await screen.shows("1 event was filtered out. To create one that passes");
    await trigger("customer.created");
    await screen.shows("2 events were filtered out");
  });

  it("says that a delivery which the receiver accepted must be rejected", async () => {
    const screen = await listen(["--chaos", "badsig=1"], { columns: 130 });
    await trigger("webhook_endpoint.ping");
    await screen.shows(/❯ .* 200 .*wrong signature {2}must be rejected/);
    await screen.shows("accepted a delivery with a wrong signature; it must be rejected");
  });

  it("says why an event was not sent while forwarding is paused", async () => {
    const screen = await listen();
    screen.type("p");
    await screen.shows("‖ Paused");
    await trigger("webhook_endpoint.ping");
    await screen.shows("Not sent yet: forwarding is paused. p resumes it.");
    screen.type("p");
    await screen.shows("1 forwarded");
    expect(screen.text()).not.toContain("Not sent yet");
  });

  it("gives way to a later failure: the result of a resend, and a hint about another receiver", async () => {
    const port = await freePort();
    receiver.react({ status: 500, body: "out of stock" });
    const screen = await listen(["--route", `customer.created=127.0.0.1:${port}`]);
    await screen.shows(`Nothing listens on 127.0.0.1:${port} yet.`);
    await trigger("webhook_endpoint.ping");
    await screen.shows("out of stock");
    screen.type("r");
    await screen.shows("Resent 1: 500");
    expect(screen.text()).not.toContain("out of stock");
    await trigger("webhook_endpoint.ping");
    screen.type("G");
    await screen.shows("out of stock");
  });

  it("closes its help on q, as its keys say", async () => {
    const screen = await listen();
    screen.type("?");
    await screen.shows(/esc\/q back {2}Ctrl-C quit *$/);
    screen.type("q");
    await screen.shows(/Waiting for events[^]*q quit *$/);
    expect(screen.isAlternate()).toBe(true);
  });
});

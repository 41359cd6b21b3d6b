import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { kitPlatform } from "../testing/kit.ts";
import { startAnyReceiver } from "./support/any-receiver.ts";

const platform = kitPlatform();

/** A command in a terminal that forwards one event to a receiver which does not respond until `respond`. */
async function forwarding(kind: "listen" | "capture", flags: readonly string[] = []) {
  let respond = (): void => {};
  const receiver = await startAnyReceiver((response) => (respond = () => response.end()));
  const port = String(await freePort());
  const own = kind === "listen" ? ["listen", "--retries", "0"] : ["webhooks", "capture", "--port", port];
  const session = runInTerminal([...own, "-f", receiver.url, "--timeout", "50s", ...flags], { env: platform.env });
  await session.waitFor(/● (Connected|Capturing)|Press Ctrl-C to stop/);
  const headers = { "Webhook-Id": "msg_1" };
  if (kind === "listen") await runCli(["trigger", "customer.created", "-q"], { env: platform.env });
  else void fetch(`http://127.0.0.1:${port}`, { method: "POST", body: "{}", headers }).catch(() => {});
  await expect.poll(() => receiver.requests.length).toBe(1);
  session.type(CTRL_C);
  await session.waitFor("Waiting for 1 forward in flight (up to 50 s). Press Ctrl-C again to stop now.");
  const id = String(receiver.requests[0]!.headers[kind === "listen" ? "service-event-id" : "webhook-id"]);
  return { session, id, respond: () => respond() };
}

describe("Ctrl-C while a receiver has not responded", () => {
  it.each(["listen", "capture"] as const)("is followed by the summary once it responds: %s", async (kind) => {
    const { session, respond } = await forwarding(kind);
    respond();
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/Summary {2}1 \w+, 1 forwarded, 0 failed/);
  });

  it.each([
    ["listen", []],
    ["listen", ["--no-ui"]],
    ["capture", []],
  ] as const)("ends at the second one, and names the event: %s %j", async (kind, flags) => {
    const { session, id } = await forwarding(kind, flags);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.text()).toMatch(/Summary {2}1 \w+, 0 forwarded, 0 failed,\s+1 not forwarded/);
    expect(session.text()).toContain(`Warning: Stopped without the response to ${id}`);
    expect(session.text().includes(`Not delivered: ${id}`)).toBe(kind === "listen");
  });
});

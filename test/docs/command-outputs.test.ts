import { once } from "node:events";
import { mkdtempSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { COMMAND_OUTPUTS } from "../../scripts/command-outputs.ts";
import { verify } from "../../src/webhooks/index.ts";
import { servePlatform } from "../support/platform.ts";
import { BIN, runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";

const SECRET = `whsec_${"c".repeat(43)}`;
const ID = /\b[a-z]{2,4}_\w{22}\b/g;

it("shows in docs/commands.md what the commands print", { timeout: 240_000 }, async () => {
  const platform = await servePlatform();
  onTestFinished(() => void platform.stop());
  const port = await startReceiver();
  const cwd = mkdtempSync(join(tmpdir(), "service-outputs-"));
  // For commands that run others.
  symlinkSync(BIN, join(cwd, "service"));
  const env = {
    ...platform.env,
    HOME: cwd,
    PATH: `${cwd}${delimiter}${process.env["PATH"]}`,
    SERVICE_WEBHOOK_SECRET: SECRET,
  };
  const actual = new Map<string, string>();
  const wordsOf = (command: string): string[] => {
    const real = command
      .replaceAll(ID, (id) => actual.get(id) ?? id)
      .replaceAll("https://example.com/webhooks", `http://localhost:${port}/fails`)
      .replaceAll("localhost:3000", `localhost:${port}`);
    return [...real.matchAll(/'([^']*)'|(\S+)/g)].slice(1).map(([, quoted, word]) => quoted ?? word!);
  };

  for (const { command, meanwhile, prints } of Object.values(COMMAND_OUTPUTS)) {
    const session = runInTerminal(wordsOf(command), { env, cwd });
    if (meanwhile !== undefined) {
      await session.waitFor("Ctrl-C to stop");
      expect(await runInTerminal(wordsOf(meanwhile), { env, cwd }).ended).toBe(0);
      const last = prints.split("\n").findLast((line) => !line.startsWith("Summary"))!;
      await session.waitFor(/← \d+|order\.created|POST/.exec(last)![0]);
      session.type(CTRL_C);
    }
    const exitCode = await session.ended;
    const printed = session.text().replaceAll(`http://localhost:${port}/fails`, "https://example.com/webhooks");
    const shown = printed.replaceAll(`localhost:${port}/fails`, "example.com/webhooks");
    expect({ exitCode, lines: linesOf(shown) }, command).toEqual({ exitCode: 0, lines: linesOf(prints) });
    const ids = shown.match(ID) ?? [];
    for (const [i, id] of (prints.match(ID) ?? []).entries()) actual.set(id, ids[i]!);
    // The first attempts are part of what the next commands print.
    const pending = ["deliveries", "list", "--status", "pending", "--json", "--jq", ".[].attempt_count"];
    await expect.poll(async () => (await runCli(pending, { env })).stdout).not.toMatch(/^0$/m);
  }
});

/** Starts a receiver, and returns its port. Its endpoint fails at the first attempt of an order.completed event. */
async function startReceiver(): Promise<number> {
  const receiver = createServer((request, response) => {
    void text(request).then((payload) => {
      const isEndpoint = request.url === "/fails";
      const fails = payload.includes('"type":"order.completed"') && request.headers["service-delivery-attempt"] === "1";
      if (isEndpoint)
        return response.writeHead(fails ? 500 : 204).end(fails ? "TypeError: order.customer is null" : "");
      try {
        verify({ payload, header: request.headers["service-signature"], secrets: [SECRET] });
        return response.writeHead(204).end();
      } catch {
        return response.writeHead(400).end();
      }
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void receiver.close());
  return (receiver.address() as AddressInfo).port;
}

/** Returns the lines without what differs each time. */
function linesOf(printed: string): string[] {
  return printed
    .trim()
    .replaceAll(/\b(whsec|[sr]k_sandbox|cs)_[\w…-]+/g, "$1_SECRET")
    .replaceAll(/\b([a-z]{2,4})_(\w{22}\b|\w+…)/g, "$1_ID")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\b\d\d:\d\d:\d\d\b/g, "TIME")
    .replaceAll(/\bjust now\b|\d+ ?s(econds?)? ago\b/g, "AGE")
    .replaceAll(/\d+(\.\d+)? m?s\b/g, "DURATION")
    .replaceAll(/\b(localhost|127\.0\.0\.1):\d+/g, "HOST")
    .split(/\r?\n/)
    .filter((line) => line !== "^C")
    .map((line) => line.replaceAll(/\s+/g, " ").trim());
}

import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { type Output, pathOfSample, type Sample, SAMPLES } from "../../scripts/command-outputs.ts";
import { verify } from "../../src/webhooks/index.ts";
import { servePlatform } from "../support/platform.ts";
import { BIN, runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal, shownText } from "../support/terminal.ts";

const SECRET = `whsec_${"c".repeat(43)}`;
const ID = /\b([a-z]{2,4})_\w{22}\b/g;
const RECORDED = new URL("../../scripts/command-outputs.json", import.meta.url);
const EVENT = {
  id: "evt_0354noWlSYB9qXq7IxNZzZ",
  object: "event",
  type: "order.completed",
  created: "2026-11-27T10:24:44Z",
  livemode: false,
  data: { object: { id: "ord_0354noWiXBQEVJWzuuNykD", object: "order", status: "completed" } },
  request: { id: null },
};

it("docs/commands.md shows what the commands print", { timeout: 400_000 }, async () => {
  const platform = await servePlatform();
  onTestFinished(() => void platform.stop());
  const receiver = await startReceiver();
  const capture = await freePort();
  const home = mkdtempSync(join(tmpdir(), "service-outputs-"));
  const cwd = join(home, "shop");
  mkdirSync(join(cwd, "src"), { recursive: true });
  // For commands that run others.
  symlinkSync(BIN, join(home, "service"));
  writeFileSync(join(cwd, "event.json"), JSON.stringify(EVENT));
  writeFileSync(join(cwd, "src/app.js"), "const key = process.env.SERVICE_API_KEY;\n");
  const env = {
    ...platform.env,
    HOME: home,
    SERVICE_CONFIG_DIR: join(home, ".config/service"),
    PATH: `${home}${delimiter}${process.env["PATH"]}`,
    SERVICE_WEBHOOK_SECRET: SECRET,
  };
  const latest: Record<string, string> = {};
  /** Returns a command with the IDs of what was printed before. */
  const withIds = (command: string) => command.replaceAll(/\{(\w+)\}/g, (name, kind: string) => latest[kind] ?? name);
  const wordsOf = (command: string) => {
    const real = command
      .replaceAll("https://example.com/webhooks", `http://localhost:${receiver}/fails`)
      .replaceAll("localhost:3000", `localhost:${receiver}`)
      .replaceAll("4020", String(capture))
      .replace(/ < \S+$/, "");
    const words = [...real.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, ...parts]) => parts.find(Boolean)!);
    return words.slice(1);
  };
  /** Settings and profiles are shown without what the environment sets. */
  const envOf = (command: string) => ({
    ...env,
    ...(/^service (config|login|logout|profiles)/.test(command) && { SERVICE_API_KEY: undefined }),
    ...(command.startsWith("service config") && { SERVICE_BASE_URL: undefined, SERVICE_NO_UPDATE_NOTIFIER: undefined }),
  });
  /** Runs a command, and returns what a terminal shows of it. */
  const run = async (command: string, { meanwhile, until = "" }: Partial<Sample> = {}): Promise<string> => {
    const args = wordsOf(command);
    let output = "";
    let exitCode: number | null;
    // Programs and recordings that it names are those of its process.
    if (meanwhile === undefined && !/ -- |ndjson|scan/.test(command)) {
      const onText = (written: string) => (output += written);
      const terminal = { isTerminal: true, columns: 100, onStdout: onText, onStderr: onText };
      const input = command.includes(" < ") ? platform.sandboxKey : "";
      ({ exitCode } = await runCli(args, { env: envOf(command), cwd, input, ...terminal }));
      output = shownText(output);
    } else {
      const session = runInTerminal(args, { env, cwd });
      if (meanwhile !== undefined) {
        await session.waitFor("Ctrl-C");
        await run(meanwhile);
        await session.waitFor(until);
        session.type(CTRL_C);
      }
      exitCode = await session.ended;
      output = session.text();
    }
    expect.soft(exitCode, `${command}\n${output}`).toBe(0);
    const found = [...output.matchAll(ID)].map(([id, kind]) => [kind!, id]).toReversed();
    Object.assign(latest, Object.fromEntries(found));
    latest["signature"] = /t=\d+,v1=\w+/.exec(output)?.[0] ?? latest["signature"]!;
    return output;
  };
  const shown = (printed: string) =>
    printed
      .replaceAll(`http://localhost:${receiver}/fails`, "https://example.com/webhooks")
      .replaceAll(`localhost:${receiver}/fails`, "example.com/webhooks")
      .replaceAll(`localhost:${receiver}`, "localhost:3000")
      .replaceAll(`:${capture}`, ":4020")
      .replaceAll(new URL(platform.baseUrl).host, "127.0.0.1:4010")
      .replaceAll(home, "/home/grace")
      .replaceAll(/\b(whsec|[sr]k_sandbox|cs)_[\w-]{30,}/g, "$1_…")
      .split(/\r?\n/)
      .filter((line) => line !== "^C")
      .map((line) => line.trimEnd())
      .join("\n")
      .trim();
  const outputs: Record<string, Output> = {};
  for (const sample of SAMPLES) {
    for (const command of sample.before ?? []) await run(withIds(command));
    const command = withIds(sample.command);
    const { meanwhile } = sample;
    const prints = shown(await run(command, sample));
    outputs[pathOfSample(sample)] = { command, ...(meanwhile !== undefined && { meanwhile }), prints };
    // The first attempts are part of what the next commands print.
    const pending = ["deliveries", "list", "--status", "pending", "--json", "--jq", ".[].attempt_count"];
    await expect.poll(async () => (await runCli(pending, { env })).stdout).not.toMatch(/^0$/m);
  }

  if (process.env["NEW_OUTPUTS"] !== undefined) writeFileSync(RECORDED, `${JSON.stringify(outputs, null, 2)}\n`);
  const recorded = JSON.parse(readFileSync(RECORDED, "utf8")) as Record<string, Output>;
  const masked = (all: Record<string, Output>) =>
    Object.fromEntries(Object.entries(all).map(([path, { prints }]) => [path, withoutFacts(prints)]));
  expect(masked(outputs)).toEqual(masked(recorded));
});

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}

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

/** Returns the words without what differs each time. Lines break at other words if a path is longer. */
function withoutFacts(printed: string): string {
  return (
    printed
      .replaceAll(/\b([sr]k_sandbox)_[\w…-]+/g, "$1_SECRET")
      // A column is narrower beside one that is wider.
      .replaceAll(/\S{12,}…/g, "CUT")
      .replaceAll(/\b([a-z]{2,4})_(\w{22}\b|\w+…)/g, "$1_ID")
      .replaceAll(/t=\d+,v1=\w+/g, "SIGNATURE")
      .replaceAll(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?|\b\d{8}T\d{6}Z|\b\d\d:\d\d:\d\d\b/g, "TIME")
      .replaceAll(/\bjust now\b|\d+ ?s(econds?)? ago\b/g, "AGE")
      .replaceAll(/\d+(\.\d+)? m?s\b/g, "DURATION")
      .replaceAll(/\d+(\.\d+)? [kMG]?i?B\b/g, "SIZE")
      .replaceAll(/\b(localhost|127\.0\.0\.1):\d+/g, "HOST")
      .replaceAll(/\s+/g, " ")
  );
}

import { createServer } from "node:http";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WebhookEvent } from "../../src/webhooks/index.ts";
import { listen } from "../client/support/scripted-server.ts";
import { startListener } from "../support/listener.ts";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { listening, createFolder } from "./support/listening.ts";

const on = listening();
const { got, service, trigger } = on;

const EVENT_LINE = JSON.stringify({ time: "2026-11-21T00:00:00Z", id: "evt_1", type: "a.b", body: "{}" });

describe("--record and listen replay", () => {
  it("send the same bytes again with new signatures, without a platform if the secret is given", async () => {
    const file = join(createFolder(), "events.ndjson");
    const listener = await startListener(on.platform.env, ["--record", file, "--forward-to", on.receiver.url]);
    const ids = await trigger("customer.updated", 3);
    await got(ids);
    await listener.interrupt();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const recorded = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string });
    expect(recorded.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const before = on.receiver.events.length;
    const args = ["replay", file, "--forward-to", on.receiver.url, "--speed", "max", "--json", "--ordered"];
    const { exitCode, stdout } = await runCli(["listen", ...args, "--secret", on.secret]);
    expect(exitCode).toBe(0);
    expect(
      on.receiver.events
        .slice(before)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(recorded.map(({ id }) => id).sort());
    const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as object;
    expect(summary).toMatchObject({
      event: "summary",
      received: recorded.length,
      forwarded: recorded.length,
      failed: 0,
    });
    expect((await service(["listen", ...args])).exitCode).toBe(0);
    expect(on.receiver.rejections).toEqual([]);
  });

  it("keep an event on one line even if it contains Unicode line separators", async () => {
    const file = join(createFolder(), "events.ndjson");
    const listener = await startListener(on.platform.env, ["--record", file, "--forward-to", on.receiver.url]);
    const name = "Ada\u2028King\u2029";
    const create = ["customers", "create", "--email", "ada-lines@example.com", "--name", name];
    expect((await service(create)).exitCode).toBe(0);
    await on.receiver.until(() => on.receiver.events.some((event) => nameIn(event) === name));
    await listener.interrupt();
    expect(readFileSync(file, "utf8")).not.toMatch(/[\u2028\u2029]/);
    const before = on.receiver.events.length;
    const args = ["listen", "replay", file, "--forward-to", on.receiver.url, "--speed", "max", "--secret", on.secret];
    expect((await service(args)).exitCode).toBe(0);
    expect(on.receiver.events.slice(before).map(nameIn)).toEqual([name]);
  });

  it("append to a recording", async () => {
    const file = join(createFolder(), "events.ndjson");
    writeFileSync(file, EVENT_LINE);
    const listener = await startListener(on.platform.env, ["--record", file, "--forward-to", on.receiver.url]);
    const ids = await trigger("customer.updated", 1);
    await got(ids);
    await listener.interrupt();
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines[0]).toBe(EVENT_LINE);
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(expect.arrayContaining(ids));
  });

  it("warn about a file that other users can read", async () => {
    const file = join(createFolder(), "events.ndjson");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const { stderr } = await service(["listen", "--record", file, "--", "true"]);
    expect(stderr).toContain(`${file} contains complete events and is readable by other users. Run: chmod 600 ${file}`);
  });

  it("exit with 1 unless the receiver accepts every event", async () => {
    const file = join(createFolder(), "events.ndjson");
    writeFileSync(file, `${EVENT_LINE}\n`);
    const args = [
      "listen",
      "replay",
      file,
      "--forward-to",
      on.receiver.url,
      "--retries",
      "0",
      "--secret",
      "whsec_wrong",
    ];
    expect((await runCli(args)).exitCode).toBe(1);
    on.receiver.rejections.length = 0;
  });

  it.each([
    ["not JSON", "{", /line 1 is not JSON/],
    ["no event", '{"id":"evt_1"}', /line 1 is not a recorded event/],
  ])("reject a file with %s", async (_what, text, reason) => {
    const file = join(createFolder(), "events.ndjson");
    writeFileSync(file, text);
    const { exitCode, stderr } = await runCli(["listen", "replay", file, "-f", "1", "--secret", "whsec_x"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(reason);
  });

  it("stop at a line that is not an event, after sending the events before it", async () => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      request.resume().on("end", () => response.end());
    });
    server.keepAliveTimeout = 0;
    const url = await listen(server);
    const file = join(createFolder(), "events.ndjson");
    writeFileSync(file, `${EVENT_LINE}\n{}`);
    const { exitCode, stderr } = await runCli(["listen", "replay", file, "-f", url, "--secret", "whsec_x"]);
    expect({ exitCode, requests }).toEqual({ exitCode: 1, requests: 1 });
    expect(stderr).toContain("Summary  1 read, 1 sent");
    expect(stderr).toContain("line 2 is not a recorded event");
  });

  it("stop at Ctrl-C while stdin is open", async () => {
    const args = ["listen", "replay", "-", "-f", on.receiver.url, "--secret", on.secret];
    const session = runInTerminal(args, { env: on.platform.env });
    session.type(`${EVENT_LINE}\r`);
    await session.waitFor("← 204");
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
  });

  it("report missing arguments", async () => {
    const missing = await runCli(["listen", "replay", "/nowhere.ndjson", "-f", "1", "--secret", "whsec_x"]);
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("does not exist") });
    expect(missing.stderr).not.toContain("Summary");
    const nowhere = await runCli(["listen", "replay", "x.ndjson", "--secret", "whsec_x"]);
    expect(nowhere).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--forward-to") });
  });
});

/** Returns undefined for other events, also for the empty one of a recording. */
function nameIn({ data }: Partial<WebhookEvent>): string | null | undefined {
  return data !== undefined && "name" in data.object ? data.object.name : undefined;
}

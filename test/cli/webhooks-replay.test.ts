import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sign } from "../../src/webhooks/schemes.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { startAnyReceiver } from "./support/any-receiver.ts";
import { startCapture } from "./support/capturing.ts";

const SECRET = "secret";
const BODY = '{ "id": "evt_1", "type": "charge.succeeded" }';

const signed = (age = 0) =>
  sign({ scheme: "stripe", payload: BODY, secrets: SECRET, timestamp: Math.floor(Date.now() / 1000) - age });

const lineOf = (id: string, headers: Record<string, string> = signed()) =>
  JSON.stringify({
    time: "2026-11-21T00:00:00Z",
    id,
    type: "a.b",
    headers: Object.entries(headers),
    body: BODY,
  });

const file = (text = "") => {
  const recording = join(createConfigDir(), "webhooks.ndjson");
  writeFileSync(recording, text);
  return recording;
};

const replay = (recording: string, url: string, ...args: string[]) =>
  runCli(["webhooks", "replay", recording, "--forward-to", url, "--speed", "max", ...args]);

const capture = async (recording: string, body: string) => {
  const capturing = await startCapture(["--record", recording]);
  await fetch(capturing.url, { method: "POST", body, headers: signed() });
  await capturing.interrupt();
  return capturing.stderr();
};

describe("service webhooks replay", () => {
  it("blames a signature's age only if it is too old", async () => {
    const strict = await startAnyReceiver((response) => response.writeHead(400).end());
    const outputOf = async (headers: Record<string, string>) =>
      (await replay(file(`${lineOf("evt_1", headers)}\n`), strict.url)).stderr;
    expect(await outputOf(signed(3))).toMatch(
      /Hint: If the receiver verifies signatures, check that it uses the same secret/,
    );
    expect(await outputOf(signed(1200))).toMatch(
      /Hint: The signature is 12\d\d s old, and receivers of Stripe reject it after 300 s\. To sign it again, pass --scheme and --secret-file/,
    );
    const github = sign({ scheme: "github", payload: BODY, secrets: SECRET, id: "d-1" });
    expect(await outputOf(github)).toMatch(/Hint: If the receiver verifies signatures/);
  });

  it("skips a line that was cut off when the recorder was killed, with a warning", async () => {
    const recording = file();
    await capture(recording, "first");
    appendFileSync(recording, lineOf("evt_cut").slice(0, 60));
    const warning = await capture(recording, "second");
    expect(warning).toMatch(/The last line of \S+ is not complete, .*`service webhooks replay` skips it\./);
    await capture(recording, "third");
    expect(readFileSync(recording, "utf8").split("\n")).toHaveLength(5);
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await replay(recording, receiver.url, "--concurrency", "1");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining(`Warning: ${recording}: line 2 is not JSON: it is skipped.\n`),
    });
    expect(receiver.requests.map(({ body }) => body.toString())).toEqual(["first", "second", "third"]);
    expect(stderr).toContain("Summary  3 read, 3 sent, 0 failed");
  });

  it("appends to a recording whose first line is incomplete", async () => {
    const recording = file(lineOf("evt_cut").slice(0, 60));
    expect(await capture(recording, "second")).toContain("The last line of");
    const receiver = await startAnyReceiver();
    expect(await replay(recording, receiver.url)).toMatchObject({ exitCode: 0 });
    expect(receiver.requests.map(({ body }) => body.toString())).toEqual(["second"]);
  });

  it.each([
    ["an empty file", "", /contains no deliveries/],
    ["blank lines", "\n\n", /contains no deliveries/],
    ["text", "my notes\nmore notes\n", /line 1 is not JSON/],
    ["a line of another program below an event", `${lineOf("evt_1")}\n{"a":1}\n`, /line 2 is not a recorded event/],
  ])("fails for %s", async (_what, text, reason) => {
    const receiver = await startAnyReceiver();
    const { exitCode, stderr } = await replay(file(text), receiver.url);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(reason) });
    expect(stderr).not.toContain("Warning");
  });

  it("exits with 7 if it reached no receiver", async () => {
    const { exitCode, stderr } = await replay(file(`${lineOf("evt_1")}\n`), "http://127.0.0.1:9", "--retries", "0");
    expect({ exitCode, stderr }).toEqual({ exitCode: 7, stderr: expect.stringContaining("1 read, 0 sent, 1 failed") });
  });

  it("lists the other providers of a mixed recording, and how to sign their deliveries", async () => {
    const receiver = await startAnyReceiver();
    const github = sign({ scheme: "github", payload: BODY, secrets: SECRET, id: "d-1" });
    const lines = [lineOf("evt_1"), lineOf("d-1", github), lineOf("evt_2"), lineOf("d-2", github)];
    const { stderr } = await replay(
      file(`${lines.join("\n")}\n`),
      receiver.url,
      "--scheme",
      "stripe",
      "--secret",
      SECRET,
    );
    expect(stderr.match(/^Warning: .*/gm)).toEqual([
      "Warning: The recording contains deliveries of GitHub, which are signed as Stripe. To sign them as GitHub, pass --scheme github.",
    ]);
  });
});

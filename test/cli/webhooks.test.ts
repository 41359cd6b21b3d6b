import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sign } from "../../src/webhooks/index.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";

const SECRET = `whsec_${"a".repeat(43)}`;
const EVENT = {
  id: "evt_1",
  object: "event",
  type: "order.completed",
  created: "2026-11-01T00:00:00Z",
  livemode: false,
  data: { object: { id: "ord_1" } },
  request: { id: "req_1" },
};
const PAYLOAD = `${JSON.stringify(EVENT, undefined, 3)}\n`;
const NOW = 1_764_590_400;

function payloadFile(): string {
  const file = join(createConfigDir(), "event.json");
  writeFileSync(file, PAYLOAD);
  return file;
}

const verify = (header: string, ...args: string[]) =>
  runCli(
    ["webhooks", "verify", "--secret", SECRET, "--header", header, "--payload", "-", "--now", String(NOW), ...args],
    {
      input: PAYLOAD,
    },
  );

describe("service webhooks sign", () => {
  it("prints the same header value as the library", async () => {
    const expected = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });
    const args = ["webhooks", "sign", "--payload", payloadFile(), "--timestamp", String(NOW)];
    expect(await runCli([...args, "--secret", SECRET])).toEqual({ exitCode: 0, stdout: `${expected}\n`, stderr: "" });
    expect(await runCli(args, { env: { SERVICE_WEBHOOK_SECRET: SECRET } })).toMatchObject({ stdout: `${expected}\n` });
    expect(JSON.parse((await runCli([...args, "--secret", SECRET, "--json"])).stdout)).toEqual({
      header: expected,
      timestamp: NOW,
    });
  });

  it("signs with both secrets of a rotation", async () => {
    const args = ["webhooks", "sign", "--payload", "-", "--secret", SECRET, "--secret", `${SECRET.slice(0, -1)}b`];
    const { stdout } = await runCli(args, { input: PAYLOAD });
    expect(stdout.match(/v1=/g)).toHaveLength(2);
  });

  it("reads secrets from a file or stdin, which the process list does not show", async () => {
    const expected = sign({ payload: PAYLOAD, secrets: [SECRET, "whsec_2"], timestamp: NOW });
    const args = ["webhooks", "sign", "--payload", payloadFile(), "--timestamp", String(NOW), "--secret-file"];
    const input = `${SECRET}\n\n whsec_2\r\n`;
    const file = join(createConfigDir(), "secrets.txt");
    writeFileSync(file, input);
    expect(await runCli([...args, "-"], { input })).toEqual({ exitCode: 0, stdout: `${expected}\n`, stderr: "" });
    expect((await runCli([...args, file])).stdout).toBe(`${expected}\n`);
    expect(await runCli([...args, "-"], { input: "\n" })).toMatchObject({ exitCode: 2 });
    expect(await runCli([...args, file, "--secret", SECRET])).toMatchObject({ exitCode: 2 });
  });

  it("reports a missing secret", async () => {
    expect(await runCli(["webhooks", "sign", "--payload", payloadFile()])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "Error: No signing secret: pass --secret or --secret-file, or set SERVICE_WEBHOOK_SECRET\n",
    });
  });
});

describe("service webhooks verify", () => {
  const header = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });

  it("accepts a signed payload, and prints the event", async () => {
    const { exitCode, stdout, stderr } = await verify(header, "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(EVENT);
    expect((await verify(header)).stdout).toBe("event\tevt_1\ntype\torder.completed\ncreated\t2026-11-01T00:00:00Z\n");
  });

  it.each([
    ["another secret", sign({ payload: PAYLOAD, secrets: `${SECRET}x`, timestamp: NOW }), "signature_mismatch"],
    ["another body", sign({ payload: JSON.stringify(EVENT), secrets: SECRET, timestamp: NOW }), "signature_mismatch"],
    ["an old signature", sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW - 301 }), "timestamp_too_old"],
    ["one from the future", sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW + 301 }), "timestamp_in_future"],
    ["no signature", `t=${NOW}`, "signature_missing"],
    ["nonsense", "hello", "header_malformed"],
  ])("rejects %s, and names the rule", async (_name, wrong, code) => {
    const { exitCode, stdout, stderr } = await verify(wrong);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(`Rule: ${code}\n`);
    expect(JSON.parse((await verify(wrong, "--json")).stderr)).toMatchObject({ code });
  });

  it("accepts an older signature with --tolerance", async () => {
    const old = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW - 301 });
    expect((await verify(old, "--tolerance", "302")).exitCode).toBe(0);
  });
});

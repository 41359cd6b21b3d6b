import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verify } from "../../src/webhooks/schemes.ts";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { startAnyReceiver } from "./support/any-receiver.ts";

const BASE64 = Buffer.alloc(24, 7).toString("base64");

function projectWith(yaml: string): string {
  const cwd = createConfigDir();
  writeFileSync(join(cwd, "service.yaml"), yaml);
  return cwd;
}

describe("the secret of service webhooks", () => {
  it.each([BASE64, `whsec_${BASE64}`, `v1,whsec_${BASE64}`])(
    "signs with %s as a Standard Webhooks secret",
    async (secret) => {
      const receiver = await startAnyReceiver();
      const args = ["webhooks", "send", receiver.url, "--scheme", "standard", "--secret", secret, "--payload", "-"];
      expect((await runCli(args, { input: "{}" })).exitCode).toBe(0);
      const { headers, body } = receiver.requests[0]!;
      expect(() => verify({ scheme: "standard", payload: body, headers, secrets: `whsec_${BASE64}` })).not.toThrow();
    },
  );

  it("comes from the project's env file for deliveries of the platform", async () => {
    const receiver = await startAnyReceiver();
    const cwd = projectWith("env:\n  file: .env.local\n  secret: HOOK_SECRET\n");
    writeFileSync(join(cwd, ".env.local"), "OTHER=1\nHOOK_SECRET='whsec_project'\n");
    const { exitCode, stderr } = await runCli(["webhooks", "send", receiver.url], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining("HOOK_SECRET of .env.local") });
    const { headers, body } = receiver.requests[0]!;
    expect(() => verify({ scheme: "service", payload: body, headers, secrets: "whsec_project" })).not.toThrow();
    const { stderr: checked } = await runCli(["webhooks", "check", receiver.url], { cwd });
    expect(checked).toContain("HOOK_SECRET of .env.local");
    const other = await runCli(["webhooks", "send", receiver.url, "--scheme", "stripe"], { cwd });
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("No signing secret") });
  });

  it.each([[], ["--json"]])("is required without a terminal, unless the check should wait: %j", async (...args) => {
    const { exitCode, stdout, stderr } = await runCli(["webhooks", "check", String(await freePort()), ...args]);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/No signing secret.*--secret-file[^]*print a new secret.*--wait/),
    });
  });

  it("has the provider's format if the check creates it", async () => {
    const secretOf = async (...args: string[]) => {
      const port = String(await freePort());
      const { stderr } = await runCli(["webhooks", "check", port, "--wait", "1s", "--json", ...args]);
      return stderr.split("\n").flatMap((line) => /"secret":"([^"]+)"/.exec(line)?.[1] ?? [])[0];
    };
    expect(await secretOf()).toMatch(/^whsec_[\w-]{43}$/);
    expect(await secretOf("--scheme", "stripe")).toMatch(/^whsec_[\w-]{43}$/);
    expect(await secretOf("--scheme", "slack")).toMatch(/^[\da-f]{32}$/);
  });
});

describe("service webhooks send", () => {
  const send = (url: string, args: readonly string[], input = '{"id":"evt_1"}') =>
    runCli(["webhooks", "send", url, "--secret", "secret", "--payload", "-", ...args], { input });

  it.each<[string[], string]>([
    [["--scheme", "github"], "Sending as X-GitHub-Event: push. For another event, pass -H 'X-GitHub-Event: …'."],
    [
      ["--scheme", "shopify"],
      "Sending as X-Shopify-Topic: orders/create. For another event, pass -H 'X-Shopify-Topic: …'.",
    ],
    [["--scheme", "github", "-H", "x-github-event: ping"], ""],
    [["--scheme", "stripe", "--set", "id=evt_2", "--count", "2"], "All 2 deliveries have the ID evt_2, as --set says."],
  ])("explains what %j does to a payload", async (args, notice) => {
    const receiver = await startAnyReceiver();
    expect((await send(receiver.url, args)).stderr).toBe(notice === "" ? "" : `${notice}\n`);
  });

  it("mentions that copies of a Slack form have no own ID", async () => {
    const receiver = await startAnyReceiver();
    const { stderr } = await send(receiver.url, ["--scheme", "slack", "--count", "2"], "command=%2Fweather");
    expect(stderr).toBe("All 2 deliveries are the same: a form of Slack has no ID of a delivery.\n");
  });

  it("does not mention a sample if nothing is sent", async () => {
    const receiver = await startAnyReceiver();
    const args = ["webhooks", "send", receiver.url, "--scheme", "stripe", "--secret", "s", "--set", "none=1"];
    const { exitCode, stderr } = await runCli(args);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/^Error: --set: the payload has no none/),
    });
    const wrong = await send(receiver.url, ["--set", "id"]);
    expect(wrong.stderr).toContain('"id" is not in the form path=value');
    expect(receiver.requests).toEqual([]);
  });

  it("reports a scheme of service.yaml with the name of a provider", async () => {
    const cwd = projectWith('schemes:\n  stripe:\n    signed: "{body}"\n    signature: { header: A, encoding: hex }\n');
    const args = ["webhooks", "send", "1", "--scheme", "stripe", "--secret", "s"];
    expect((await runCli(args, { cwd })).stderr).toContain("Stripe has this name; choose another one");
  });
});

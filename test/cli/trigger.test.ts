import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../src/contract/event-types.ts";
import type { Event } from "../../src/contract/schemas/event.ts";
import { type CliOptions, createConfigDir } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();
const { service } = cli;

async function triggered(args: readonly string[], options: CliOptions = {}): Promise<Event> {
  const { exitCode, stdout, stderr } = await service(["trigger", ...args, "--json"], options);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as Event;
}

describe("service trigger", () => {
  it.each(EVENT_TYPES)("causes %s", async (type) => {
    const event = await triggered([type]);
    expect(event).toMatchObject({ object: "event", type, livemode: false });
    const { stdout } = await service(["events", "get", event.id, "--json"]);
    expect(JSON.parse(stdout)).toEqual(event);
  });

  it("sends the edited object, and nothing if the file is empty or unchanged, or the editor fails", async () => {
    const edit = (script: string) => ({ env: { EDITOR: `${process.execPath} -e '${script}' --`, VISUAL: "" } });
    const change = `const fs = require("fs"), [file] = process.argv.slice(-1), object = JSON.parse(fs.readFileSync(file));
      object.amount += 1; object.metadata = { plan: "5" }; fs.writeFileSync(file, JSON.stringify(object));`;
    const plain = await triggered(["order.created"]);
    const event = await triggered(["order.created", "--edit"], edit(change));
    const { amount } = plain.data.object as { amount: number };
    expect(event.data.object).toMatchObject({ amount: amount + 1, metadata: { plan: "5" }, status: "pending" });
    const newest = async () =>
      (JSON.parse((await service(["events", "list", "--limit", "1", "--json"])).stdout) as Event[])[0]!.id;
    for (const [script, reason] of [
      ['require("fs").writeFileSync(process.argv.at(-1), "")', "the file is empty"],
      ['require("fs").writeFileSync(process.argv.at(-1), "{")', "the file is not JSON"],
      ["process.exit(3)", "exited with 3"],
      ["", "the object is unchanged"],
    ] as const) {
      const { exitCode, stderr } = await service(["trigger", "order.created", "--edit"], edit(script));
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(reason) });
    }
    expect(await newest()).toBe(event.id);
  });

  it("prints each call, then the event", async () => {
    const { stdout, stderr } = await service(["trigger", "order.completed"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    const id = lines[0]![3]!;
    expect(lines).toEqual([
      ["POST", "/v1/orders", "201", expect.stringMatching(/^ord_/)],
      ["POST", `/v1/orders/${id}/complete`, "200", id],
      ["EVENT", "order.completed", expect.stringMatching(/^evt_/)],
    ]);
    expect(stderr).toBe("");
  });

  it("sets fields with --override, each in the call that accepts it", async () => {
    const event = await triggered([
      "payment.failed",
      "--override",
      "amount=7",
      "--override",
      "metadata.plan=pro",
      "--override",
      "failure_code=insufficient_funds",
    ]);
    expect(event.data.object).toMatchObject({
      amount: 7,
      metadata: { plan: "pro" },
      failure_code: "insufficient_funds",
    });
  });

  it("accepts currency codes in any case with --override, and names the flag in errors", async () => {
    const event = await triggered(["order.created", "--override", "currency=usd"]);
    expect(event.data.object).toMatchObject({ currency: "USD" });
    const { exitCode, stderr } = await service(["trigger", "order.created", "--override", "currency=dollars"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(
        /^Error: --override currency: must be one of the ISO 4217 currency codes in capitals, such as EUR/,
      ),
    });
  });

  it("says of an amount what its flag says, before anything is sent", async () => {
    for (const value of ["abc", "12.50"]) {
      const { exitCode, stderr } = await service(["trigger", "order.completed", "--override", `amount=${value}`]);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining(
          `--override amount: must be a whole number of the currency's minor unit: 1999 for 19.99 EUR, not "${value}"`,
        ),
      });
    }
  });

  it("sets fields of an update with --override", async () => {
    const event = await triggered(["customer.updated", "--override", "email=ada.king@example.com"]);
    expect(event.data.object).toMatchObject({ email: "ada.king@example.com" });
    expect(event.data.previous).toHaveProperty("email");
  });

  it("lists the fields that --override can set", async () => {
    expect(await service(["trigger", "order.completed", "--override", "status=done"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "Error: order.completed does not support --override status\nSupported: amount, currency, customer, metadata. For other fields, pass --data FILE.\n",
    });
  });

  it("accepts the whole object with --data, from a file or stdin", async () => {
    const object = { id: "ord_mine", object: "order", amount: 12, extra: [1, { two: null }] };
    const file = join(createConfigDir(), "order.json");
    writeFileSync(file, JSON.stringify(object));
    expect((await triggered(["order.completed", "--data", file])).data.object).toEqual(object);
    const fromStdin = await triggered(["order.completed", "--data", "-", "--override", "amount=13"], {
      input: JSON.stringify(object),
    });
    expect(fromStdin.data.object).toEqual({ ...object, amount: 13 });
  });

  it.each([
    ["{", "is not JSON"],
    ["[]", "does not contain a JSON object"],
  ])("rejects %s as --data", async (input, reason) => {
    expect(await service(["trigger", "order.completed", "--data", "-"], { input })).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining(reason),
    });
  });

  it("repeats with --count, one event per line with --json", async () => {
    const { exitCode, stdout } = await service(["trigger", "customer.created", "--count", "20", "--json"]);
    expect(exitCode).toBe(0);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Event);
    expect(new Set(events.map(({ id }) => id)).size).toBe(20);
    const args = ["trigger", "customer.created", "--count", "3", "--json"];
    const session = runInTerminal(args, { env: cli.platform.env, columns: 1000 });
    expect(await session.ended).toBe(0);
    for (const line of session.text().trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ object: "event" });
  });

  it("stops at the first failure, and reports it", async () => {
    const args = ["trigger", "customer.created", "--count", "20", "--override", "email=same@example.com"];
    const { exitCode, stdout, stderr } = await service(args);
    expect(exitCode).toBe(1);
    expect(stdout.split("\n").filter((line) => line !== "")).toHaveLength(1);
    expect(stderr).toContain("409 email_taken");
  });

  it("--cleanup removes an object whose creation was in flight when another call failed", async () => {
    let reject = () => {};
    const rejected = new Promise<void>((resolve) => (reject = resolve));
    const proxy = createServer((request, response) => {
      void (async () => {
        const body = await text(request);
        const upstream = await fetch(cli.platform.baseUrl + request.url!, {
          method: request.method!,
          headers: { authorization: request.headers.authorization!, "content-type": "application/json" },
          ...(body === "" ? {} : { body }),
        });
        const respond = await upstream.text();
        if (upstream.status === 201) await rejected;
        response.writeHead(upstream.status, { "content-type": upstream.headers.get("content-type")! });
        response.end(respond, () => upstream.status === 409 && reject());
      })();
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    const email = "in-flight@example.com";
    const { exitCode, stderr } = await service(
      ["trigger", "customer.created", "--count", "8", "--cleanup", "--override", `email=${email}`],
      { env: { ...cli.platform.env, SERVICE_BASE_URL: `http://127.0.0.1:${port}` } },
    );
    proxy.close();
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("email_taken") });
    const { stdout } = await service(["customers", "list", "--email", email, "--json"]);
    expect(JSON.parse(stdout)).toEqual([]);
  });

  it("lists the types with their API calls", async () => {
    const { stdout } = await service(["trigger", "--list", "--json"]);
    const types = JSON.parse(stdout) as { type: string; calls: string[] }[];
    expect(types.map(({ type }) => type)).toEqual([...EVENT_TYPES]);
    expect(types.find(({ type }) => type === "order.completed")!.calls).toEqual([
      "POST /v1/orders",
      "POST /v1/orders/ID/complete",
    ]);
  });
});

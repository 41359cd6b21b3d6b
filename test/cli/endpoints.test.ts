import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../src/contract/schemas/webhook-endpoint.ts";
import { json as respond, startServer } from "../client/support/scripted-server.ts";
import { ENDPOINT, listOf } from "../support/api-objects.ts";
import { startListener } from "../support/listener.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type CliOptions, runCli } from "../support/run-cli.ts";
import { ENTER, runInTerminal } from "../support/terminal.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

let receiver: Receiver;
let secret = "whsec_unset";
beforeAll(async () => {
  receiver = await startReceiver(() => secret);
});
afterAll(() => receiver.close());

let serial = 0;
const newEndpoint = (...args: string[]): Promise<WebhookEndpoint> =>
  json("endpoints", "create", "--url", `${receiver.url}${++serial}`, "--events", "payment.failed", ...args);

describe("service endpoints create", () => {
  it("prints the API's own object, secret included, with --json", async () => {
    const url = `${receiver.url}create`;
    const events = "order.*, customer.created";
    const args = ["--url", url, "--events", events, "--description", "Orders to the shop"];
    expect(await json("endpoints", "create", ...args)).toEqual({
      id: expect.stringMatching(/^we_[0-9A-Za-z]{22}$/),
      object: "webhook_endpoint",
      url,
      events: ["order.*", "customer.created"],
      description: "Orders to the shop",
      header_names: [],
      status: "enabled",
      disabled_reason: null,
      disabled_at: null,
      livemode: false,
      created: expect.any(String),
      secret_created: expect.any(String),
      health: { failing_since: null },
      previous_secret_until: null,
      secret: expect.stringMatching(/^whsec_[0-9A-Za-z_-]{43}$/),
    });
  });

  it("prints the secret on a separate line in a pipe", async () => {
    const { exitCode, stdout, stderr } = await service(["endpoints", "create", "--url", receiver.url, "--events", "*"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^secret\twhsec_[0-9A-Za-z_-]{43}$/m);
  });

  it("warns on a terminal that the secret is shown only once", async () => {
    const args = ["endpoints", "create", "--url", receiver.url, "--events", "customer.deleted"];
    const session = runInTerminal(args, { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/✓ Created webhook endpoint we_/);
    expect(session.text()).toMatch(/Secret +whsec_/);
    expect(session.text()).toContain("The secret is shown only once");
  });

  it("rejects --quiet before it creates an endpoint, as the secret would be lost", async () => {
    const args = ["endpoints", "create", "--url", receiver.url, "--events", "customer.deleted", "-q"];
    const before = await json("endpoints", "list");
    expect(await service(args)).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining("To print only the secret: --json --jq .secret") as string,
    });
    expect(await json("endpoints", "list")).toEqual(before);
  });

  it.each([
    [["--url", "https://example.com/hooks"], 2, "--events"],
    [["--events", "*"], 2, "--url"],
    [["--url", "https://example.com/hooks", "--events", "order.*,,"], 2, "separated by commas"],
    [["--url", "https://example.com/hooks", "--events", "order.complete"], 2, "Did you mean order.completed?"],
    [
      ["--url", "localhost", "--events", "*"],
      2,
      "--url: must be a URL that begins with https://, such as https://example.com/webhooks",
    ],
  ])("rejects %j", async (args, exitCode, reason) => {
    expect(await service(["endpoints", "create", ...args])).toMatchObject({
      exitCode,
      stdout: "",
      stderr: expect.stringContaining(reason),
    });
  });
});

describe("service endpoints get, update, enable, disable, delete", () => {
  it("retrieves an endpoint without its secret", async () => {
    const { secret, ...endpoint } = await newEndpoint();
    expect(secret).toBeDefined();
    expect(await json("endpoints", "get", endpoint.id)).toEqual(endpoint);
  });

  it("changes only the given fields", async () => {
    const { id, url } = await newEndpoint("--description", "old");
    expect(await json("endpoints", "update", id, "--events", "order.*", "--description", "")).toMatchObject({
      id,
      url,
      events: ["order.*"],
      description: null,
      status: "enabled",
    });
    expect(await json("endpoints", "update", id, "--url", `${url}/v2`)).toMatchObject({ url: `${url}/v2` });
    expect(await service(["endpoints", "update", id])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("No changes specified"),
    });
  });

  it("sets, adds and removes headers, and shows only their names", async () => {
    const { id, header_names: names } = await newEndpoint("--header", "X-Api-Key: 3f1d0c", "--header", "X-Team: a: b");
    expect(names).toEqual(["X-Api-Key", "X-Team"]);
    const args = ["--header", "Authorization: Bearer 3f1d0c", "--header", "x-team:"];
    expect(await json("endpoints", "update", id, ...args)).toMatchObject({
      header_names: ["X-Api-Key", "Authorization"],
    });
    const shown = await service(["endpoints", "get", id]);
    expect(shown.stdout).toMatch(/^headers\tX-Api-Key, Authorization$/m);
    expect(shown.stdout).not.toContain("3f1d0c");
  });

  it("reads headers from a file or stdin, which keeps their values out of the process list", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "service-headers-")), "headers.txt");
    writeFileSync(file, "X-Api-Key: 3f1d0c\r\n\nX-Team: a: b\n");
    const { id, header_names: names } = await newEndpoint("--header", `@${file}`, "--header", "X-Stage: test");
    expect(names).toEqual(["X-Api-Key", "X-Team", "X-Stage"]);
    const args = ["endpoints", "update", id, "--header", "@-"];
    expect((await service(args, { input: "X-Team:\n" })).exitCode).toBe(0);
    expect(await json("endpoints", "get", id)).toMatchObject({ header_names: ["X-Api-Key", "X-Stage"] });
    expect(await service([...args.slice(0, -1), "@missing.txt"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("missing.txt"),
    });
  });

  it.each([
    [["X-Api-Key"], 2, /--header: "X-Api-Key" has no colon: write a header as "Name: value"/],
    [["X-A: 1", "X-A: 2"], 2, /--header: "X-A" is repeated/],
    [["Service-Signature: 1"], 2, /Service-Signature: is set by the delivery or its connection: remove it/],
  ])("rejects the headers %j", async (headers, exitCode, message) => {
    const flags = headers.flatMap((header) => ["--header", header]);
    const args = ["endpoints", "create", "--url", receiver.url, "--events", "*", ...flags];
    expect(await service(args)).toMatchObject({ exitCode, stderr: expect.stringMatching(message) });
  });

  it("disables and enables an endpoint", async () => {
    const { id } = await newEndpoint();
    expect(await json("endpoints", "disable", id)).toMatchObject({ id, status: "disabled", disabled_reason: "user" });
    const { exitCode, stderr } = await service(["endpoints", "ping", id]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("409 endpoint_disabled");
    expect(await json("endpoints", "enable", id)).toMatchObject({ id, status: "enabled" });
  });

  it("deletes without a prompt in the sandbox", async () => {
    const { id } = await newEndpoint();
    expect(await json("endpoints", "delete", id)).toEqual({ id, object: "webhook_endpoint", deleted: true });
    expect(await service(["endpoints", "get", id])).toMatchObject({ exitCode: 3, stdout: "" });
  });

  describe("in live mode", () => {
    const live = (): CliOptions => ({ env: { ...cli.platform.env, SERVICE_API_KEY: cli.platform.liveKey } });
    const create = async (): Promise<string> => {
      const args = [
        "endpoints",
        "create",
        "--live",
        "--url",
        "https://example.com/hooks",
        "--events",
        "*",
        "--jq",
        ".id",
      ];
      const { stdout, exitCode } = await service(args, live());
      expect(exitCode).toBe(0);
      return stdout.trim();
    };

    it("requires --yes for a deletion without a terminal", async () => {
      const id = await create();
      expect(await service(["endpoints", "delete", id, "--live"], live())).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("--yes is required"),
      });
      expect(await service(["endpoints", "delete", id, "--live", "--yes", "-q"], live())).toMatchObject({
        exitCode: 0,
        stdout: `${id}\n`,
      });
    });

    it("deletes once the ID was typed", async () => {
      const id = await create();
      const wrong = runInTerminal(["endpoints", "delete", id, "--live"], live());
      await wrong.waitFor(`Type ${id} to continue:`);
      wrong.type(`we_other${ENTER}`);
      expect(await wrong.ended).toBe(1);
      const right = runInTerminal(["endpoints", "delete", id, "--live"], live());
      await right.waitFor(`Type ${id} to continue:`);
      right.type(id + ENTER);
      expect(await right.ended).toBe(0);
      expect(await service(["endpoints", "get", id, "--live"], live())).toMatchObject({ exitCode: 3 });
    });

    it("requires --yes to stop the old secret immediately", async () => {
      const id = await create();
      const args = ["endpoints", "rotate-secret", id, "--live", "--overlap", "0s", "--json"];
      expect(await service(args, live())).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("--yes is required"),
      });
      expect(await service([...args, "--yes"], live())).toMatchObject({ exitCode: 0 });
    });
  });
});

describe("service endpoints ping and rotate-secret", () => {
  it("pings only this endpoint, with a valid signature", async () => {
    const endpoint = await newEndpoint();
    secret = endpoint.secret!;
    const event = await json<{ id: string; type: string }>("endpoints", "ping", endpoint.id);
    expect(event.type).toBe("webhook_endpoint.ping");
    await receiver.until(() => receiver.ids().has(event.id));
    const deliveries = await json<Delivery[]>("deliveries", "list", "--event", event.id);
    expect(deliveries.map(({ endpoint }) => endpoint)).toEqual([endpoint.id]);
  });

  it("shows the endpoint's response, not a listener's", async () => {
    const listener = await startListener(cli.platform.env, ["--forward-to", receiver.url]);
    try {
      const args = ["--url", "http://127.0.0.1:9/", "--events", "payment.failed"];
      const endpoint = await json<WebhookEndpoint>("endpoints", "create", ...args);
      const { exitCode, stderr } = await service(["endpoints", "ping", endpoint.id, "--type", "order.completed"]);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringMatching(/^Error: No response \(refused\) in [^:]+: no /),
      });
    } finally {
      await listener.interrupt();
    }
  });

  it("waits for the response to a ping, and exits with 1 unless it is 2xx", async () => {
    const endpoint = await newEndpoint();
    secret = endpoint.secret!;
    const sent = await service(["endpoints", "ping", endpoint.id, "--type", "order.completed"]);
    expect(sent).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^evt_\w+\t2\d\d\t[\d.]+\n$/) });
    secret = "whsec_another";
    const { exitCode, stderr } = await service(["endpoints", "ping", endpoint.id, "--event", "order.completed"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^Error: [45]\d\d in [\d.]+ m?s[^]*service why evt_\w+\n$/),
    });
  });

  it("replaces the secret, and both are valid during the overlap", async () => {
    const endpoint = await newEndpoint();
    const rotated = await json<WebhookEndpoint>("endpoints", "rotate-secret", endpoint.id);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(endpoint.secret);
    for (const either of [endpoint.secret!, rotated.secret!]) {
      secret = either;
      const { id } = await json<{ id: string }>("endpoints", "ping", endpoint.id);
      await receiver.until(() => receiver.ids().has(id));
    }
  });

  it("stops the old secret immediately without an overlap", async () => {
    const endpoint = await newEndpoint();
    const rotated = await json<WebhookEndpoint>("endpoints", "rotate-secret", endpoint.id, "--overlap", "0s");
    secret = endpoint.secret!;
    const rejections = receiver.rejections.length;
    await json("endpoints", "ping", endpoint.id);
    await receiver.until(() => receiver.rejections.length > rejections);
    secret = rotated.secret!;
    const { id } = await json<{ id: string }>("endpoints", "ping", endpoint.id);
    await receiver.until(() => receiver.ids().has(id));
  });

  it.each([
    [["--overlap", "8d"], "at most 7 days"],
    [["--overlap", "soon"], "must be a duration"],
    [["-q"], "would be lost"],
  ])("rejects %j before replacing anything", async (args, reason) => {
    const endpoint = await newEndpoint();
    expect(await service(["endpoints", "rotate-secret", endpoint.id, ...args])).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining(reason),
    });
    secret = endpoint.secret!;
    const { id } = await json<{ id: string }>("endpoints", "ping", endpoint.id);
    await receiver.until(() => receiver.ids().has(id));
  });
});

describe("service endpoints list", () => {
  it("prints tab-separated lines in a pipe", async () => {
    const { id, url, created, secret_created } = await newEndpoint("--description", "mine");
    const { stdout, stderr } = await service(["endpoints", "list", "--limit", "1"]);
    const line = [id, "enabled", url, "payment.failed", secret_created, "mine", created].join("\t");
    expect({ stdout, stderr }).toEqual({ stdout: `${line}\n`, stderr: "" });
  });

  const DAY = 86_400_000;
  const aged = (days: number, id: string): object => {
    const created = `${new Date(Date.now() - days * DAY).toISOString().slice(0, 19)}Z`;
    return { ...ENDPOINT, id, created, secret_created: created };
  };

  async function listing(...items: object[]): Promise<string> {
    const { url } = await startServer(respond(200, listOf(...items)));
    return url;
  }

  it("reports secrets older than 90 days", async () => {
    const env = { ...cli.platform.env, SERVICE_BASE_URL: await listing(aged(89, "we_young"), aged(97, "we_old")) };
    const session = runInTerminal(["endpoints", "list", "--no-color"], { env, columns: 120 });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/we_young .* 89d ago /);
    expect(session.text()).toMatch(/we_old .* 97d ago, rotate it/);
    expect(session.text()).toContain("The secret of we_old is older than 90 days");
    const piped = await runCli(["endpoints", "list"], { env });
    expect(piped.stderr).toContain("service endpoints rotate-secret we_old");
    expect(await runCli(["endpoints", "list", "--json"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("does not report younger secrets", async () => {
    const env = { ...cli.platform.env, SERVICE_BASE_URL: await listing(aged(89, "we_young")) };
    expect(await runCli(["endpoints", "list"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.each([60, 100, 160, 200])("fits %i columns without truncating IDs", async (columns) => {
    const { id } = await newEndpoint(
      "--description",
      "A description that goes on for longer than any terminal is wide",
    );
    const session = runInTerminal(["endpoints", "list", "--limit", "3"], { env: cli.platform.env, columns });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain(id);
    for (const line of session.text().split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
  });
});

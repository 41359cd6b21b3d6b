import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startPlatformOn } from "../../support/platform.ts";
import { startScriptedReceiver } from "./support/scripted-receiver.ts";

/** A system resolver whose name servers are all silent: lookups of endpoint names never call back. */
const SILENT_RESOLVER = `
  const dns = require("node:dns");
  const { lookup } = dns;
  dns.lookup = (name, ...rest) => name.endsWith(".localhost") || lookup(name, ...rest);
  require("node:module").syncBuiltinESMExports();
`;

it("a running platform resolves endpoints' host names without the system's resolver", async () => {
  const folder = mkdtempSync(join(tmpdir(), "service-resolver-"));
  const preload = join(folder, "silent-resolver.cjs");
  writeFileSync(preload, SILENT_RESOLVER);
  const database = join(folder, "platform.db");
  const platform = await startPlatformOn(database, 0, { NODE_OPTIONS: `--require ${preload}` });
  onTestFinished(() => platform.kill());
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const url = receiver.url.replace("127.0.0.1", "hooks.localhost");
  expect((await platform.api("POST", "/v1/webhook_endpoints", { url, events: ["*"] })).status).toBe(201);
  expect((await platform.api("POST", "/v1/events", { type: "order.completed", data: {} })).status).toBe(201);
  const attempts = async () => {
    const [{ id }] = (await platform.api("GET", "/v1/deliveries")).body.data;
    return (await platform.api("GET", `/v1/deliveries/${id}`)).body.attempts;
  };
  await expect.poll(async () => (await attempts()).length).toBe(1);
  expect(await attempts()).toEqual([expect.objectContaining({ status_code: 200, error: null })]);
});

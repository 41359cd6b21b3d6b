import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createLookup } from "../../src/platform/delivery/dns.ts";
import { type DnsServer, startDnsServer } from "../platform/delivery/support/dns-server.ts";
import { explained, plain } from "./support/explained.ts";

let nameServer: DnsServer;
beforeAll(async () => {
  nameServer = await startDnsServer((name) => (name === "unanswered.test" ? "SERVFAIL" : "NXDOMAIN"));
});
afterAll(() => nameServer.close());
const world = explained((_request, response) => void response.end("ok"), {
  lookup: (...question) => createLookup({ servers: [nameServer.address] })(...question),
});
beforeEach(() => world.clear());

it("service why explains a host without an address", async () => {
  await world.endpoint("http://no-such-host.invalid/hooks");
  const { deliveries } = await world.order();
  expect(plain(await world.why(deliveries[0]!.id))).toMatchObject({
    code: "dns",
    summary: "The host name no-such-host.invalid could not be resolved; attempt 2 is due at T",
    evidence: "Attempt 1 at T: dns",
    action: "Fix its DNS record, or correct the endpoint's URL, then retry",
  });
});

it("service why does not blame the host name if the name servers failed", async () => {
  const endpoint = await world.endpoint("http://unanswered.test/hooks");
  const { deliveries } = await world.order();
  const action = "Check the network and the name servers of the platform's machine, then retry";
  expect(plain(await world.why(deliveries[0]!.id))).toMatchObject({
    code: "dns",
    summary:
      "The platform could not look up unanswered.test: the name servers failed (ESERVFAIL); attempt 2 is due at T",
    evidence: "Attempt 1 at T: dns",
    action,
  });
  expect(await world.why(endpoint)).toMatchObject({
    code: "dns",
    summary: expect.stringContaining("the name servers failed (ESERVFAIL); the only attempt in the last hour failed"),
    action,
  });
});

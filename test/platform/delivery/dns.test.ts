import { mkdtempSync, writeFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLookup, type DnsSettings } from "../../../src/platform/delivery/dns.ts";
import { type DnsResult, type DnsServer, startDnsServer } from "./support/dns-server.ts";
import { hostPlatform } from "./support/hosted-platform.ts";
import { startScriptedReceiver } from "./support/scripted-receiver.ts";

async function dns(...[respond]: Parameters<typeof startDnsServer>): Promise<DnsServer> {
  const server = await startDnsServer(respond);
  onTestFinished(() => server.close());
  return server;
}

/** Starts a name server that knows only these names. */
const knowing = (names: Record<string, DnsResult>) => dns((name) => names[name] ?? "NXDOMAIN");

function file(content: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "service-dns-")), "file");
  writeFileSync(path, content);
  return path;
}

/** Returns the addresses, or the error's code and message. */
function ask(hostname: string, { address }: DnsServer, settings: DnsSettings = {}): Promise<string[] | string> {
  const lookup = createLookup({ servers: [address], hostsFile: file(""), resolvConf: file("search ."), ...settings });
  return new Promise((resolve) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error !== null) resolve(`${error.code}: ${error.message}`);
      else resolve((addresses as { address: string }[]).map(({ address: found }) => found));
    });
  });
}

describe("a host name", () => {
  it("has the addresses of both families, IPv4 first", async () => {
    const server = await knowing({ "hooks.test": ["2001:db8::1", "192.0.2.1", "192.0.2.2"] });
    expect(await ask("Hooks.Test", server)).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
    expect(await ask("hooks.test.", server)).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
  });

  it.each([
    ["A", ["192.0.2.1"]],
    ["AAAA", ["2001:db8::1"]],
  ])("has only %s records if those of the other type fail", async (wanted, expected) => {
    for (const failure of ["SERVFAIL", "silence", []] as const) {
      const server = await dns((_name, type) => (type === wanted ? ["192.0.2.1", "2001:db8::1"] : failure));
      // Only silence lasts until the limit. It leaves a busy machine time to answer the other query.
      expect(await ask("hooks.test", server, { limitMs: 2000 })).toEqual(expected);
    }
  });

  it("resolves localhost and names below it without a query", async () => {
    const server = await knowing({});
    for (const name of ["localhost", "app.LOCALHOST."]) {
      expect(await ask(name, server)).toEqual(["127.0.0.1", "::1"]);
    }
    expect(server.queries).toEqual([]);
  });

  it("in the hosts file needs no query, even after the file changes", async () => {
    const server = await knowing({ "other.test": ["192.0.2.9"] });
    const hostsFile = file("# comment\n192.0.2.1\tAda.test ada # ada.other\n2001:db8::1 ada\nnonsense x.test\n");
    expect(await ask("ada.TEST", server, { hostsFile })).toEqual(["192.0.2.1"]);
    expect(await ask("ada", server, { hostsFile })).toEqual(["192.0.2.1", "2001:db8::1"]);
    expect(server.queries).toEqual([]);
    expect(await ask("ada.other", server, { hostsFile })).toMatch(/^ENOTFOUND: /);
    expect(await ask("other.test", server, { hostsFile: "/nowhere/hosts" })).toEqual(["192.0.2.9"]);
    const lookup = createLookup({ servers: [server.address], hostsFile });
    const first = () => new Promise((resolve) => lookup("ada.test", {}, (_error, address) => resolve(address)));
    expect(await first()).toBe("192.0.2.1");
    writeFileSync(hostsFile, "192.0.2.77 ada.test\n");
    expect(await first()).toBe("192.0.2.77");
  });

  it("reports that it does not exist or has no address", async () => {
    const server = await knowing({ "empty.test": [] });
    const message = "ENOTFOUND: the host name does not exist or has no address";
    expect(await ask("nothing.test", server)).toBe(message);
    expect(await ask("empty.test", server)).toBe(message);
  });

  it("reports that name servers fail or do not respond", async () => {
    expect(await ask("hooks.test", await dns(() => "SERVFAIL"))).toBe("EAI_AGAIN: the name servers failed (ESERVFAIL)");
    expect(await ask("hooks.test", await dns(() => "silence"), { limitMs: 50 })).toBe(
      "ETIMEOUT: the name servers did not respond within 0.05 s",
    );
  });

  it("is resolved by the system if only the system knows it, one at a time", async () => {
    const server = await knowing({});
    const answers: (() => void)[] = [];
    const system: LookupFunction = (_hostname, _options, callback) =>
      answers.push(() => callback(null, [{ address: "192.0.2.5", family: 4 }]));
    const hostsFile = file("");
    const lookup = createLookup({ servers: [server.address], hostsFile, system });
    const results = ["printer.local", "scanner.local"].map(
      (name) => new Promise((resolve) => lookup(name, {}, (_error, address) => resolve(address))),
    );
    await expect.poll(() => server.queries.length).toBeGreaterThanOrEqual(4);
    await expect.poll(() => answers.length).toBe(1);
    answers[0]!();
    await expect.poll(() => answers.length).toBe(2);
    answers[1]!();
    expect(await Promise.all(results)).toEqual(["192.0.2.5", "192.0.2.5"]);
  });

  it("reports what the name servers said if the system does not know it either", async () => {
    const system: LookupFunction = (_hostname, _options, callback) =>
      callback(Object.assign(new Error("getaddrinfo EAI_AGAIN"), { code: "EAI_AGAIN" }), []);
    expect(await ask("hooks.test", await dns(() => "SERVFAIL"), { system })).toBe(
      "EAI_AGAIN: the name servers failed (ESERVFAIL)",
    );
    expect(await ask("hooks.test", await knowing({}), { system })).toBe(
      "ENOTFOUND: the host name does not exist or has no address",
    );
  });
});

describe("search domains", () => {
  const queriesFor = async (hostname: string, resolvConf: string, answers: Record<string, DnsResult> = {}) => {
    const server = await knowing(answers);
    await ask(hostname, server, { resolvConf: file(resolvConf) });
    return server.queries.filter((question) => question.startsWith("A ")).map((question) => question.slice(2));
  };

  it("come before a name with fewer dots than ndots, and after others", async () => {
    const conf = "nameserver 192.0.2.1\nsearch one.test two.test # comment\n";
    expect(await queriesFor("shop", conf)).toEqual(["shop.one.test", "shop.two.test", "shop"]);
    expect(await queriesFor("shop.app", conf)).toEqual(["shop.app", "shop.app.one.test", "shop.app.two.test"]);
    expect(await queriesFor("shop.app", `${conf}options rotate ndots:5\n`)).toEqual([
      "shop.app.one.test",
      "shop.app.two.test",
      "shop.app",
    ]);
    expect(await queriesFor("shop.app.", conf)).toEqual(["shop.app"]);
  });

  it("stop at the first name with an address, and come from the last list in the file", async () => {
    const conf = "search one.test\ndomain two.test\n";
    expect(await queriesFor("shop", conf, { "shop.two.test": ["192.0.2.1"] })).toEqual(["shop.two.test"]);
  });

  it("are skipped if their name servers fail", async () => {
    const server = await knowing({ "shop.one.test": "SERVFAIL", shop: ["192.0.2.1"] });
    expect(await ask("shop", server, { resolvConf: file("search one.test") })).toEqual(["192.0.2.1"]);
  });
});

describe("names whose name servers do not respond", () => {
  it("delay neither other deliveries nor the process's threads", async () => {
    let release = (_answer: DnsResult): void => {};
    const released = new Promise<DnsResult>((resolve) => (release = resolve));
    const server = await dns((name) => (name.startsWith("silent") ? released : ["127.0.0.1"]));
    const lookup = createLookup({ servers: [server.address], limitMs: 60_000 });
    const platform = await hostPlatform({ lookup });
    onTestFinished(() => platform.close());
    const receiver = await startScriptedReceiver();
    onTestFinished(() => receiver.close());
    const { port } = new URL(receiver.url);
    const create = async (host: string): Promise<string> => {
      const url = `http://${host}:${port}/`;
      return (await platform.api("POST", "/v1/webhook_endpoints", { url, events: ["*"] })).body.id;
    };
    const silent: string[] = [];
    for (let i = 0; i < 8; i++) silent.push(await create(`silent${i}.test`));
    await create("healthy.test");
    const { id: event } = (await platform.api("POST", "/v1/events", { type: "order.completed", data: {} })).body;
    const attemptsTo = async (endpoint: string) => {
      const { data } = (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${endpoint}`)).body;
      return (await platform.api("GET", `/v1/deliveries/${data[0].id}`)).body.attempts;
    };
    await expect.poll(() => new Set(server.queries.filter((q) => q.startsWith("A silent"))).size).toBe(8);
    await receiver.until(1);
    await stat(tmpdir());
    expect(await Promise.all(silent.map(attemptsTo))).toEqual(silent.map(() => []));
    release("NXDOMAIN");
    const error = "dns: the host name does not exist or has no address";
    await expect.poll(() => attemptsTo(silent[0]!)).toMatchObject([{ error }]);
  });
});

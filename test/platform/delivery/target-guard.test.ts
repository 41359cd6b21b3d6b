import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Poster, type PostResult } from "../../../src/network/poster.ts";
import {
  blockReasonOfAddress,
  createTargetGuard,
  type TargetGuard,
} from "../../../src/platform/delivery/target-guard.ts";
import { systemClock } from "../../../src/platform/ports.ts";
import { LOOPBACK_SPELLINGS, OTHER_BLOCKED, PUBLIC } from "./support/spellings.ts";

let trap: Server;
let trap6: Server;
let port: number;
/** Connections that the trap accepted. */
let hits = 0;

beforeAll(async () => {
  const listener = (_request: unknown, response: { end(): void }) => response.end();
  trap = createServer(listener).on("connection", () => (hits += 1));
  trap6 = createServer(listener).on("connection", () => (hits += 1));
  await new Promise<void>((resolve) => {
    trap.listen(0, "0.0.0.0", resolve);
  });
  ({ port } = trap.address() as AddressInfo);
  await new Promise<void>((resolve) => {
    trap6.listen({ port, host: "::1" }, resolve);
  });
});
afterAll(() => {
  trap.close();
  trap6.close();
});

type Results = string[] | Error;

/** A resolver that returns each result in turn and then repeats the last one. */
function resolver(...results: Results[]): LookupFunction & { lookups: number } {
  const lookup = (_hostname: string, _options: unknown, callback: Parameters<LookupFunction>[2]) => {
    const respond = results[Math.min(lookup.lookups, results.length - 1)]!;
    lookup.lookups += 1;
    process.nextTick(() => {
      if (respond instanceof Error) callback(respond, []);
      else
        callback(
          null,
          respond.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        );
    });
  };
  lookup.lookups = 0;
  return lookup;
}

/** Posts to a URL like a delivery. Returns the error, or "reached". */
async function reach(url: string, lookup: LookupFunction, allowPrivate = false): Promise<string> {
  const { error } = await post(url, createTargetGuard({ allowPrivate, lookup }));
  return error === undefined ? "reached" : `${(error as NodeJS.ErrnoException).code}: ${error.message}`;
}

async function post(url: string, { connect }: TargetGuard): Promise<PostResult> {
  const poster = new Poster({ connect, timeoutMs: 10_000, excerptBytes: 100, clock: systemClock });
  const result = await new Promise<PostResult>((resolve) => poster.post(new URL(url), [], Buffer.of(), resolve));
  poster.close();
  return result;
}

const never = resolver(["127.0.0.1"]);

describe("a literal address", () => {
  it.each([...LOOPBACK_SPELLINGS, ...OTHER_BLOCKED])("%s is rejected before any connection", async (host) => {
    const before = hits;
    const guard = createTargetGuard({ allowPrivate: false, lookup: never });
    const rejection = guard.blockReason(new URL(`https://${host}/`));
    expect(rejection).toEqual(expect.any(String));
    for (const protocol of ["https", "http"]) {
      expect(await reach(`${protocol}://${host}:${port}/`, never)).toMatch(
        new RegExp(`^EBLOCKED: .* is ${rejection}$`),
      );
    }
    expect(hits).toBe(before);
  });

  it.each(PUBLIC)("%s is accepted", (host) => {
    const guard = createTargetGuard({ allowPrivate: false, lookup: never });
    expect(guard.blockReason(new URL(`https://${host}/`))).toBeUndefined();
  });

  it("is checked without its zone", () => {
    expect(blockReasonOfAddress("fe80::1%eth0")).toBeDefined();
    expect(blockReasonOfAddress("2606:4700:4700::1111%eth0")).toBeUndefined();
  });

  it("on loopback is accepted if private targets are allowed", async () => {
    for (const host of ["127.0.0.1", "2130706433", "[::1]"]) {
      expect(await reach(`http://${host}:${port}/`, never, true)).toBe("reached");
    }
  });
});

describe("a target's host name", () => {
  const blocked: [string, Results][] = [
    ["to loopback", ["127.0.0.1"]],
    ["to IPv6 loopback", ["::1"]],
    ["to a public and a private address", ["8.8.8.8", "127.0.0.1"]],
    ["to a private and a public address", ["10.0.0.1", "8.8.8.8"]],
    ["to a mapped loopback address", ["::ffff:127.0.0.1"]],
    ["to the metadata address", ["169.254.169.254"]],
    ["to a translated address", ["64:ff9b::7f00:1"]],
  ];
  it.each(blocked)("is rejected if it resolves %s", async (_what, respond) => {
    const before = hits;
    expect(await reach(`https://hooks.example:${port}/`, resolver(respond))).toMatch(/^EBLOCKED: hooks\.example \(/);
    expect(hits).toBe(before);
  });

  it("is checked by the addresses that the connection uses, even if they change after a check", async () => {
    const rebinding = resolver(["8.8.8.8"], ["127.0.0.1"]);
    // The check before connecting.
    await new Promise((resolve) => rebinding("hooks.example", {}, resolve));
    const before = hits;
    expect(await reach(`https://hooks.example:${port}/`, rebinding)).toMatch(/^EBLOCKED: /);
    expect(rebinding.lookups).toBe(2);
    expect(hits).toBe(before);
  });

  it("is resolved again at every connection", async () => {
    const lookup = resolver(["127.0.0.1"]);
    for (let i = 0; i < 3; i++) expect(await reach(`http://hooks.example:${port}/`, lookup, true)).toBe("reached");
    expect(lookup.lookups).toBe(3);
  });

  it("is rejected over plain http, whatever it resolves to", async () => {
    expect(await reach(`http://hooks.example:${port}/`, resolver(["8.8.8.8"]))).toMatch(/^EBLOCKED: .*not https/);
  });

  it("is reported if it cannot be resolved or has no address", async () => {
    const failure = Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    expect(await reach(`https://hooks.example:${port}/`, resolver(failure))).toMatch(/^ENOTFOUND: /);
    expect(await reach(`https://hooks.example:${port}/`, resolver([]))).toMatch(/^ENOTFOUND: /);
  });

  it("is resolved once for concurrent connections", async () => {
    let lookups = 0;
    let respond = () => {};
    const slow: LookupFunction = (_hostname, _options, callback) => {
      lookups += 1;
      respond = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    const guard = createTargetGuard({ allowPrivate: true, lookup: slow });
    const all = Promise.all([1, 2, 3].map(() => post(`http://hooks.example:${port}/`, guard)));
    await expect.poll(() => lookups).toBe(1);
    respond();
    expect(await all).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
    expect(lookups).toBe(1);
  });
});

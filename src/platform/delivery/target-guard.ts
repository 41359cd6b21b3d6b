import { BlockList, isIP, type LookupFunction, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { CONNECT_ATTEMPT_MS, openSocket, withoutBrackets } from "../../network/connect-options.ts";
import type { Address } from "./dns.ts";

/** The rules about what deliveries may reach. */
export interface TargetGuard {
  /**
   * Returns why a URL's host can never be delivered to, or undefined. A name is judged by its addresses at each
   * connection.
   */
  readonly blockReason: (url: URL) => string | undefined;
  /**
   * Opens a connection for deliveries, only to an address that was checked. Otherwise the connection fails with
   * BlockedTargetError.
   */
  readonly connect: (url: URL) => Socket;
}

/** A target that deliveries never reach. The message says which and why. */
export class BlockedTargetError extends Error {
  override name = "BlockedTargetError";
  readonly code = "EBLOCKED";
}

/**
 * IPv4 ranges that are not on the public internet (IANA's special-purpose registry), and one address of Azure that
 * looks public.
 */
const BLOCKED_IPV4: readonly [network: string, bits: number, what: string][] = [
  ["0.0.0.0", 8, "this host"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "carrier-grade NAT"],
  ["127.0.0.0", 8, "loopback"],
  ["168.63.129.16", 32, "a cloud provider's metadata address"],
  ["169.254.0.0", 16, "link-local, which includes cloud metadata"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved for protocols"],
  ["192.0.2.0", 24, "reserved for documentation"],
  ["192.88.99.0", 24, "a 6to4 relay"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "reserved for benchmarks"],
  ["198.51.100.0", 24, "reserved for documentation"],
  ["203.0.113.0", 24, "reserved for documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved or broadcast"],
];

/**
 * Public IPv6 is only 2000::/3, so mapped, translated (64:ff9b::), unique local and link-local ranges need no entries.
 */
const PUBLIC_IPV6: readonly [network: string, bits: number] = ["2000::", 3];
const BLOCKED_IPV6: readonly [network: string, bits: number, what: string][] = [
  ["2001::", 23, "reserved for protocols, Teredo among them"],
  ["2001:db8::", 32, "reserved for documentation"],
  ["2002::", 16, "a 6to4 address, which carries an IPv4 address"],
  ["3fff::", 20, "reserved for documentation"],
];

const blocked4 = BLOCKED_IPV4.map(([network, bits, what]) => ({ list: subnet(network, bits, "ipv4"), what }));
const blocked6 = BLOCKED_IPV6.map(([network, bits, what]) => ({ list: subnet(network, bits, "ipv6"), what }));
const public6 = subnet(...PUBLIC_IPV6, "ipv6");

function subnet(network: string, bits: number, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list;
}

/** Returns why an address is not allowed, or undefined if it is public. The text must be an IP address. */
export function blockReasonOfAddress(address: string): string | undefined {
  const [plain = ""] = address.split("%", 1);
  if (isIP(plain) === 4) return blocked4.find(({ list }) => list.check(plain, "ipv4"))?.what;
  if (!public6.check(plain, "ipv6")) return "not a public IPv6 address";
  return blocked6.find(({ list }) => list.check(plain, "ipv6"))?.what;
}

/** With `allowPrivate` every address is allowed, for local development. */
export function createTargetGuard({
  allowPrivate,
  lookup,
}: {
  allowPrivate: boolean;
  /** Resolves names, as `dns.lookup` does. */
  lookup: LookupFunction;
}): TargetGuard {
  if (allowPrivate) return { blockReason: () => undefined, connect: connectWith(sharedLookup(lookup)) };
  const connect = connectWith(judgedLookup(sharedLookup(lookup)));
  return {
    blockReason: ({ hostname }) => blockReasonOfHost(hostname),
    connect: (url) => {
      // A literal address needs no lookup. Plain http may be left over from a platform that allowed it.
      const what = blockReasonOfHost(url.hostname) ?? (url.protocol === "https:" ? undefined : "not https");
      return what === undefined ? connect(url) : new Socket().destroy(blocked(url.hostname, what));
    },
  };
}

function blockReasonOfHost(hostname: string): string | undefined {
  const host = withoutBrackets(hostname);
  if (isIP(host.split("%", 1)[0]!) !== 0) return blockReasonOfAddress(host);
  return /(^|\.)localhost\.?$/i.test(host) ? "loopback" : undefined;
}

/** Maximum number of origins whose TLS sessions are resumed, which saves both sides most of a handshake. */
const MAX_SESSIONS = 100;

function connectWith(lookup: LookupFunction): (url: URL) => Socket {
  const sessions = new Map<string, Buffer>();
  const address = { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS };
  return (url) => {
    const session = sessions.get(url.origin);
    const socket = openSocket(url, address, session === undefined ? {} : { session });
    if (url.protocol !== "https:") return socket;
    return (socket as TLSSocket).on("session", (latest) => {
      const [oldest] = sessions.keys();
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      sessions.set(url.origin, latest);
    });
  };
}

/** Fails if any of a name's addresses is not allowed, because it is unknown which one a connection would take. */
function judgedLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const found = addresses as Address[];
      for (const { address } of found) {
        const what = blockReasonOfAddress(address);
        if (what !== undefined) return callback(blocked(`${hostname} (${address})`, what), []);
      }
      passAddresses(found, options.all === true, callback);
    });
  };
}

type Callback = Parameters<LookupFunction>[2];

/** One lookup at a time per name: many deliveries of an endpoint connect at once. */
function sharedLookup(lookup: LookupFunction): LookupFunction {
  const waiting = new Map<string, { callback: Callback; all: boolean }[]>();
  return (hostname, options, callback) => {
    const mine = { callback, all: options.all === true };
    const others = waiting.get(hostname);
    if (others !== undefined) {
      others.push(mine);
      return;
    }
    waiting.set(hostname, [mine]);
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const callbacks = waiting.get(hostname) ?? [];
      waiting.delete(hostname);
      for (const { callback, all } of callbacks) {
        if (error !== null) callback(error, []);
        else passAddresses(addresses as Address[], all, callback);
      }
    });
  };
}

function passAddresses(addresses: Address[], all: boolean, callback: Callback): void {
  const [first] = addresses;
  if (first === undefined) callback(Object.assign(new Error("The name has no address"), { code: "ENOTFOUND" }), []);
  else if (all) callback(null, addresses);
  else callback(null, first.address, first.family);
}

function blocked(target: string, what: string): BlockedTargetError {
  return new BlockedTargetError(`${target} is ${what}`);
}

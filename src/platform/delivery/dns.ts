import { Resolver } from "node:dns/promises";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { devNull, hostname as ownName } from "node:os";
import { callbackify } from "node:util";
import { isLocalhost, LOOPBACK } from "../../network/connect-options.ts";
import { failureKindOf } from "../../network/failures.ts";

export interface Address {
  address: string;
  family: number;
}

export interface DnsSettings {
  /** Name servers, such as `127.0.0.1:5353` (default: the system's). */
  servers?: readonly string[];
  hostsFile?: string;
  resolvConf?: string;
  /** Timeout of one lookup, in milliseconds. */
  limitMs?: number;
  /**
   * Resolves names that neither the hosts file nor DNS knows, such as those of mDNS: `dns.lookup`. It occupies one of
   * the process's four threads while it runs, so it is called for one name at a time.
   */
  system?: LookupFunction | undefined;
}

const HOSTS_FILE = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";
const RESOLV_CONF = "/etc/resolv.conf";
const LIMIT_MS = 5000;
/** A query is repeated after this long, then after twice as long. */
const QUERY_MS = 1500;
const QUERIES = 3;
/** Error codes of name servers for a name without an address. */
const NO_ADDRESS: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA"]);

/** Why no address was found: there is none, the name servers failed, or they did not respond in time. */
export class DnsError extends Error {
  override name = "DnsError";
  readonly code: "ENOTFOUND" | "EAI_AGAIN" | "ETIMEOUT";

  constructor(code: DnsError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Returns a lookup like `dns.lookup`, for names of the hosts file and of DNS, with the search domains of resolv.conf.
 * While a name server is silent, `dns.lookup` occupies one of the four threads that file access and password hashing
 * need too: a few names without a response would block the whole process.
 */
export function createLookup({
  servers,
  hostsFile = HOSTS_FILE,
  resolvConf = RESOLV_CONF,
  limitMs = LIMIT_MS,
  system,
}: DnsSettings = {}): LookupFunction {
  const hosts = cachedFile(hostsFile, parseHosts);
  const search = cachedFile(resolvConf, parseSearch);
  let systemQueue: Promise<unknown> = Promise.resolve();

  async function resolve(hostname: string): Promise<Address[]> {
    const name = hostname.toLowerCase().replace(/\.$/, "");
    if (isLocalhost(name)) return LOOPBACK;
    const fromHosts = hosts().get(name);
    if (fromHosts !== undefined) return fromHosts;
    try {
      return await query(candidatesOf(hostname, search()), servers, limitMs);
    } catch (error) {
      assertDescriptors();
      if (system === undefined || (error instanceof DnsError && error.code === "ETIMEOUT")) throw error;
      const found = systemQueue.then(() => askSystem(system, hostname));
      systemQueue = found.catch(() => {});
      // What the name servers said is more precise than the system's "not found".
      return await found.catch((reason) => Promise.reject(failureKindOf(reason) === "dns" ? error : reason));
    }
  }

  const resolveAll = callbackify(resolve);
  return (hostname, options, callback) => {
    resolveAll(hostname, (error: NodeJS.ErrnoException | null, addresses) => {
      if (error !== null) callback(error, []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

/** Resolves with the addresses of the first name that has any, IPv4 first. Rejects with DnsError. */
async function query(names: readonly string[], servers: readonly string[] | undefined, limitMs: number) {
  // Each lookup has its own resolver, which reads the system's name servers again and can be canceled alone.
  const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERIES });
  if (servers !== undefined) resolver.setServers(servers);
  let isOver = false;
  const limit = setTimeout(() => {
    isOver = true;
    resolver.cancel();
  }, limitMs);
  let temporaryError: string | undefined;
  try {
    for (const name of names) {
      const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const addresses = results.flatMap((result, i) =>
        result.status === "fulfilled" ? result.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
      );
      if (addresses.length > 0) return addresses;
      if (isOver) throw new DnsError("ETIMEOUT", `the name servers did not respond within ${limitMs / 1000} s`);
      for (const result of results) {
        const code = result.status === "rejected" ? String((result.reason as NodeJS.ErrnoException).code) : "ENODATA";
        if (!NO_ADDRESS.has(code)) temporaryError ??= code;
      }
    }
  } finally {
    clearTimeout(limit);
  }
  if (temporaryError !== undefined) throw new DnsError("EAI_AGAIN", `the name servers failed (${temporaryError})`);
  throw new DnsError("ENOTFOUND", "the host name does not exist or has no address");
}

function askSystem(system: LookupFunction, hostname: string): Promise<Address[]> {
  return new Promise((resolve, reject) => {
    system(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses as Address[]);
      else reject(error);
    });
  });
}

/** Returns the names to query, in order, as the system's resolver does (resolv.conf(5)). */
function candidatesOf(hostname: string, { domains, ndots }: ReturnType<typeof parseSearch>): string[] {
  if (hostname.endsWith(".")) return [hostname];
  const searched = domains.map((domain) => `${hostname}.${domain}`);
  return hostname.split(".").length - 1 >= ndots ? [hostname, ...searched] : [...searched, hostname];
}

function parseSearch(text: string) {
  const [, ownDomain] = /^[^.]+\.(.+)$/.exec(ownName()) ?? [];
  // A name with at least `ndots` dots is first tried as it is.
  const search = { domains: ownDomain === undefined ? [] : [ownDomain], ndots: 1 };
  for (const line of text.split(/\r?\n/)) {
    const [keyword, ...values] = line
      .replace(/[#;].*$/, "")
      .trim()
      .split(/\s+/);
    // The last of several counts.
    if (keyword === "search" || keyword === "domain") search.domains = values.filter((domain) => domain !== ".");
    if (keyword !== "options") continue;
    for (const value of values) {
      const [, ndots] = /^ndots:(\d+)$/.exec(value) ?? [];
      if (ndots !== undefined) search.ndots = Math.min(Number(ndots), 15);
    }
  }
  return search;
}

function parseHosts(text: string): ReadonlyMap<string, Address[]> {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = "", ...names] = line.replace(/#.*$/, "").trim().split(/\s+/);
    const family = isIP(address.split("%", 1)[0]!);
    if (family === 0) continue;
    for (const name of names.map((written) => written.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** Reads a small file again each time it changes. A missing file counts as empty. */
function cachedFile<Content>(path: string, parse: (text: string) => Content): () => Content {
  let version = "";
  let content = parse("");
  return () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    const found = stats === undefined ? "" : `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
    if (found !== version) {
      content = parse(stats === undefined ? "" : readFileSync(path, "utf8"));
      version = found;
    }
    return content;
  };
}

/** Throws EMFILE or ENFILE if no file can be opened: then no query could be sent, which says nothing about a name. */
function assertDescriptors(): void {
  closeSync(openSync(devNull, "r"));
}

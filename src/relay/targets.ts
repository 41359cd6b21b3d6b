import { matchesSubscriptions } from "../contract/event-types.ts";
import { isLoopback } from "../network/connect-options.ts";
import { parseUrl } from "../network/parse-url.ts";
import { Forwarder, type ForwarderOptions } from "./forwarder.ts";

/** An invalid `--forward-to`; the message names the fix. */
export class TargetError extends Error {
  override name = "TargetError";
}

export interface Target {
  url: URL;
  /** What was changed or is risky, as sentences for the user. */
  warnings: string[];
}

const EXAMPLE = "for example localhost:3000/webhooks";
const AUTHORITY = /^(?<host>\[[^\]]*\]|[^:[\]]*)(?<colon>:(?<port>[^:]*))?$/;

/**
 * Parses where to forward to: a port, a host with optional port and path, or an http(s) URL. The defaults are http,
 * localhost and the path `/`. Throws TargetError.
 */
export function parseTarget(text: string): Target {
  const given = text.trim();
  if (given === "") throw new TargetError(`the target is empty: give a host and a port, ${EXAMPLE}`);
  rejectFilePath(given);
  const { scheme, rest } = splitScheme(given);
  const isWholeUrl = rest !== given;
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const tail = end === -1 ? "" : rest.slice(end);
  const warnings: string[] = [];
  const url = buildUrl(`${scheme}://${checkAuthority(authority)}${tail}`, given);
  const hasPort = authority.includes(":", authority.lastIndexOf("]") + 1) || /^\d+$/.test(authority);
  if (!hasPort && !isWholeUrl && isName(url.hostname)) {
    throw new TargetError(`"${given.slice(0, 80)}" has no port: give a host and a port, ${EXAMPLE}`);
  }
  // In the URL of another machine the default port is meant; on this machine it was more likely forgotten.
  if (!hasPort && (!isWholeUrl || isThisMachine(url.hostname))) {
    warnings.push(`No port given: using ${url.protocol === "https:" ? 443 : 80}.`);
  }
  if (url.hash !== "") {
    url.hash = "";
    warnings.push("The part after # was removed: it is never sent.");
  }
  rewriteUnspecified(url, warnings);
  if (!isThisMachine(url.hostname)) {
    const clear = url.protocol === "http:" ? ", unencrypted" : "";
    warnings.push(`${url.hostname} is not this machine: events and their contents are sent there${clear}.`);
  }
  return { url, warnings };
}

/** Without a port, a single word is more likely a mistake than the name of a machine. */
function isName(hostname: string): boolean {
  return !/[.:]/.test(hostname) && !isThisMachine(hostname);
}

/** Returns true for a host that means this machine, also in a container. */
export function isThisMachine(hostname: string): boolean {
  return isLoopback(hostname) || hostname === "host.docker.internal";
}

function rejectFilePath(text: string): void {
  if (!/^(?:[./~\\]|unix:|[a-z]:[\\/](?!\/))/i.test(text)) return;
  throw new TargetError(
    `"${text}" is a file path: events are forwarded over TCP only. Give a host and a port, ${EXAMPLE}`,
  );
}

function splitScheme(text: string): { scheme: string; rest: string } {
  const match = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text);
  if (match === null) return { scheme: "http", rest: text };
  const scheme = match[1]!.toLowerCase();
  if (scheme !== "http" && scheme !== "https") {
    throw new TargetError(`cannot forward to "${text}": use http:// or https://`);
  }
  return { scheme, rest: match[2]! };
}

function checkAuthority(authority: string): string {
  if (authority.includes("@")) {
    throw new TargetError(`remove the user name and password: use -H "Authorization: …" instead`);
  }
  if (authority.includes(",")) {
    throw new TargetError(`"${authority}" names several hosts: give one here, and the others with --route`);
  }
  if (/['"]/.test(authority)) {
    throw new TargetError(`"${authority}" is not a valid host: remove the quotes`);
  }
  if (/^\d+$/.test(authority)) return `localhost:${checkPort(authority)}`;
  const parts = AUTHORITY.exec(authority)?.groups;
  if (parts === undefined) {
    throw new TargetError(`"${authority}" is not a valid host: an IPv6 address needs brackets, such as [::1]:3000`);
  }
  const host = parts["host"] === "" && parts["colon"] !== undefined ? "localhost" : parts["host"]!;
  if (host === "") throw new TargetError(`the host is missing: give one, ${EXAMPLE}`);
  return parts["colon"] === undefined ? host : `${host}:${checkPort(parts["port"]!)}`;
}

function checkPort(port: string): string {
  if (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535) return port;
  throw new TargetError(`"${port.slice(0, 40)}" is not a valid port: use a number from 1 to 65535`);
}

function buildUrl(text: string, given: string): URL {
  // The URL parser would silently remove tabs and line ends, and replace backslashes.
  const url = /[\s\\\u0000-\u001f\u007f]/.test(text) ? undefined : parseUrl(text);
  if (url !== undefined) return url;
  throw new TargetError(`"${given.slice(0, 80)}" is not a valid URL: use a host and a port, ${EXAMPLE}`);
}

/** 0.0.0.0 and [::] are for listening; connecting to them works on some systems only. */
function rewriteUnspecified(url: URL, warnings: string[]): void {
  const loopback = url.hostname === "0.0.0.0" ? "127.0.0.1" : url.hostname === "[::]" ? "[::1]" : undefined;
  if (loopback === undefined) return;
  warnings.push(`${url.hostname} stands for all addresses of this machine: forwarding to ${loopback}.`);
  url.hostname = loopback;
}

/** Sends the events of a subscription to another receiver. */
export interface Route {
  /** `*`, `<prefix>.*` or an event type. */
  subscription: string;
  url: URL;
}

export interface RouterOptions extends Omit<ForwarderOptions, "url"> {
  /** The first that matches an event's type is used. */
  routes: readonly Route[];
  /** Target of events that match no route; without it, they are not forwarded. */
  target: URL | undefined;
}

/** A receiver and its connections. */
export interface Destination {
  url: URL;
  forwarder: Forwarder;
}

/** Selects the receiver of an event by its type. Routes to the same URL share connections. */
export class Router {
  readonly #routes: { subscription: string; destination: Destination }[];
  readonly #byUrl = new Map<string, Destination>();
  /** Cached by type: there are few types and many events. */
  readonly #byType = new Map<string, Destination | undefined>();

  constructor({ routes, target, ...options }: RouterOptions) {
    const all = target === undefined ? routes : [...routes, { subscription: "*", url: target }];
    this.#routes = all.map(({ subscription, url }) => ({
      subscription,
      destination: this.#destinationOf(url, options),
    }));
  }

  /** Returns the receiver of events of this type, if there is one. */
  find(type: string): Destination | undefined {
    if (this.#byType.has(type)) return this.#byType.get(type);
    const route = this.#routes.find(({ subscription }) => matchesSubscriptions([subscription], type));
    this.#byType.set(type, route?.destination);
    return route?.destination;
  }

  close(): void {
    for (const { forwarder } of this.#byUrl.values()) forwarder.close();
  }

  #destinationOf(url: URL, options: Omit<ForwarderOptions, "url">): Destination {
    const existing = this.#byUrl.get(url.href);
    if (existing !== undefined) return existing;
    const destination = { url, forwarder: new Forwarder({ ...options, url }) };
    this.#byUrl.set(url.href, destination);
    return destination;
  }
}

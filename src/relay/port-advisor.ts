import { isLoopback, portOf } from "../network/connect-options.ts";
import { acceptsConnections } from "../network/port-probe.ts";
import { type Clock, pause } from "../network/clock.ts";
import type { Waiting } from "../contract/listen.ts";
import { type HostKind, localhostHint } from "./forward-failure.ts";
import type { Report } from "./report.ts";

/** Default ports of development servers. */
const COMMON_PORTS = [3000, 3001, 4000, 4200, 5000, 5173, 8000, 8080, 8787, 9000];
const NEIGHBORS = [-2, -1, 1, 2];
const LOOPBACK = ["127.0.0.1", "::1"];
const POLL_MS = 250;
/** On a busy machine, even a rejected connection takes a while. */
const TIMEOUT_MS = 1000;

export interface PortAdvisorOptions {
  clock: Clock;
  /** Ports that are never suggested: the platform's own. */
  except: readonly number[];
  /** Addresses on which a receiver should listen once the connection is ready. */
  expected: readonly URL[];
  report: (report: Report) => void;
  /** Where this process runs. */
  host?: HostKind | undefined;
  /** Lets events wait for this, or no longer. Without it, they do not wait. */
  wait?: ((awaited: Waiting | undefined) => void) | undefined;
}

/** Waits for a receiver on this machine on which nothing listens, and suggests other ports: once until it responds. */
export class PortAdvisor {
  readonly #options: PortAdvisorOptions;
  readonly #advised = new Set<string>();
  /** Receivers that have responded, so that another port is not meant. */
  readonly #known = new Set<string>();
  #isWaiting = false;
  #isClosed = false;

  constructor(options: PortAdvisorOptions) {
    this.#options = options;
  }

  /** Must be called with every report. */
  notice(report: Report): void {
    if (report.event === "ready") return void this.checkExpected();
    if (report.event !== "forwarded") return;
    const { url, failure, retryInMs } = report;
    if (failure === undefined) this.#known.add(url.origin);
    if (failure?.code !== "connection_refused") return void this.#advised.delete(url.origin);
    if (!isLoopback(url.hostname)) return;
    if (retryInMs !== undefined) void this.#await(url);
    void this.#advise(url, this.#known.has(url.origin) ? `Nothing listens on ${url.host} any more.` : "");
  }

  /** Waits for, or reports, each expected address of this machine on which definitely nothing listens. */
  async checkExpected(): Promise<void> {
    const { clock, expected, host = "plain" } = this.#options;
    const origins = new Map(expected.filter(({ hostname }) => isLoopback(hostname)).map((url) => [url.origin, url]));
    for (const url of origins.values()) {
      const tries = await tryLoopback(portOf(url), clock);
      if (!tries.every((isOpen) => isOpen === false)) continue;
      void this.#await(url);
      await this.#advise(url, `Nothing listens on ${url.hostname}:${portOf(url)} yet.`, localhostHint(url, host));
    }
  }

  /** Waits for nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  async #await(url: URL): Promise<void> {
    const { clock, wait } = this.#options;
    if (wait === undefined || this.#isWaiting) return;
    this.#isWaiting = true;
    wait(listening(url));
    while (!this.#isClosed && !(await tryLoopback(portOf(url), clock)).includes(true)) {
      await pause(clock, POLL_MS);
    }
    this.#isWaiting = false;
    if (!this.#isClosed) wait(undefined);
  }

  /** Reports what is known, and a port that may be meant; if there is none, the alternative. */
  async #advise(url: URL, known = "", alternative = ""): Promise<void> {
    const { clock, except, report } = this.#options;
    if (this.#advised.has(url.origin)) return;
    this.#advised.add(url.origin);
    const open = this.#known.has(url.origin) ? [] : await openPortsNear(portOf(url), except, clock);
    const ports = open.length === 1 ? `port ${open[0]}` : `ports ${open.join(", ")}`;
    const found =
      open.length === 0
        ? alternative
        : ` Found a server on ${ports} of this machine. If it is your application, forward to localhost:${open[0]}.`;
    const waits = this.#isWaiting ? ` Events wait until something listens on ${url.host}.` : "";
    const message = `${known}${found}${waits}`.trimStart();
    if (message !== "") report({ event: "hint", url, message });
  }
}

/** Returns common and neighboring ports of this machine that accept connections, the nearest first. */
async function openPortsNear(port: number, except: readonly number[], clock: Clock): Promise<number[]> {
  const nearby = new Set([...NEIGHBORS.map((step) => port + step), ...COMMON_PORTS]);
  const candidates = [...nearby].filter(
    (candidate) => candidate >= 1 && candidate <= 65_535 && candidate !== port && !except.includes(candidate),
  );
  const tries = await Promise.all(candidates.map((candidate) => tryLoopback(candidate, clock)));
  return candidates.filter((_, i) => tries[i]!.includes(true)).sort((a, b) => Math.abs(a - port) - Math.abs(b - port));
}

function tryLoopback(port: number, clock: Clock): Promise<(boolean | undefined)[]> {
  return Promise.all(LOOPBACK.map((host) => acceptsConnections({ host, port }, TIMEOUT_MS, clock)));
}

/** Returns that events wait until something listens at a URL. */
export function listening({ host }: URL): Waiting {
  return { waiting: `something listens on ${host}`, remedy: "Start your application there" };
}

import { isLoopback, portOf } from "../network/connect-options.ts";
import { acceptsConnections } from "../network/port-probe.ts";
import type { Clock } from "../network/clock.ts";
import type { Report } from "./report.ts";

/** Default ports of development servers. */
const COMMON_PORTS = [3000, 3001, 4000, 4200, 5000, 5173, 8000, 8080, 8787, 9000];
const NEIGHBORS = [-2, -1, 1, 2];
const LOOPBACK = ["127.0.0.1", "::1"];
/** On a busy machine, even a rejected connection takes a while. */
const TIMEOUT_MS = 1000;

export interface PortAdvisorOptions {
  clock: Clock;
  /** Ports that are never suggested: the platform's own. */
  except: readonly number[];
  /** Addresses on which a receiver should listen once the connection is ready. */
  expected: readonly URL[];
  report: (report: Report) => void;
}

/** Suggests other ports of this machine when a connection is refused: once per receiver until it responds. */
export class PortAdvisor {
  readonly #options: PortAdvisorOptions;
  readonly #advised = new Set<string>();

  constructor(options: PortAdvisorOptions) {
    this.#options = options;
  }

  /** Must be called with every report. */
  notice(report: Report): void {
    if (report.event === "ready") return void this.checkExpected();
    if (report.event !== "forwarded") return;
    const { url, failure } = report;
    if (failure?.code !== "refused") return void this.#advised.delete(url.origin);
    if (this.#advised.has(url.origin) || !isLoopback(url.hostname)) return;
    this.#advised.add(url.origin);
    void this.#advise(url);
  }

  /** Reports each expected address of this machine on which definitely nothing listens. */
  async checkExpected(): Promise<void> {
    const { clock, expected, report } = this.#options;
    const origins = new Map(expected.filter(({ hostname }) => isLoopback(hostname)).map((url) => [url.origin, url]));
    for (const url of origins.values()) {
      const port = portOf(url);
      const tries = await tryLoopback(port, clock);
      if (!tries.every((isOpen) => isOpen === false)) continue;
      report({ event: "hint", url, message: `Nothing listens on ${url.hostname}:${port} yet.` });
    }
  }

  async #advise(url: URL): Promise<void> {
    const { clock, except, report } = this.#options;
    const open = await openPortsNear(portOf(url), except, clock);
    if (open.length === 0) return;
    const ports = open.length === 1 ? `port ${open[0]}` : `ports ${open.join(", ")}`;
    report({
      event: "hint",
      url,
      message: `Found a server on ${ports} of this machine. Did you mean --forward-to ${open[0]}?`,
    });
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

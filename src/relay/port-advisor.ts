import { connect } from "node:net";
import type { Clock } from "./ports.ts";
import type { Report } from "./report.ts";
import { isLoopback } from "./target.ts";

/** Where development servers listen by default. */
const USUAL_PORTS = [3000, 3001, 4000, 4200, 5000, 5173, 8000, 8080, 8787, 9000];
const NEIGHBOURS = [-2, -1, 1, 2];
const LOOPBACK = ["127.0.0.1", "::1"];
const PATIENCE_MS = 300;

export interface PortAdvisorOptions {
  clock: Clock;
  /** Ports that are known not to be meant: the platform's own. */
  except: readonly number[];
  /** Where something should listen by the time that the session is ready. */
  expected: readonly URL[];
  report: (report: Report) => void;
}

/** Looks round for the port that was meant, when nothing listens on a port of this machine: once, until it answers. */
export class PortAdvisor {
  readonly #options: PortAdvisorOptions;
  readonly #advised = new Set<string>();

  constructor(options: PortAdvisorOptions) {
    this.#options = options;
  }

  /** To be told of every report. */
  notice(report: Report): void {
    if (report.event === "ready") return void this.checkExpected();
    if (report.event !== "forwarded") return;
    const { url, failure } = report;
    if (failure?.code !== "refused") return void this.#advised.delete(url.origin);
    if (this.#advised.has(url.origin) || !isLoopback(url.hostname)) return;
    this.#advised.add(url.origin);
    void this.#advise(url);
  }

  /** Tells of each expected address of this machine that surely nothing listens at. */
  async checkExpected(): Promise<void> {
    const { clock, expected, report } = this.#options;
    const origins = new Map(expected.filter(({ hostname }) => isLoopback(hostname)).map((url) => [url.origin, url]));
    for (const url of origins.values()) {
      const port = portOf(url);
      const tries = await tryLoopback(port, clock);
      if (!tries.every((taken) => taken === false)) continue;
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
      message: `Something listens on ${ports} of this machine: was --forward-to ${open[0]} meant?`,
    });
  }
}

/** Usual and neighbouring ports of this machine that take connections, the nearest first. */
async function openPortsNear(port: number, except: readonly number[], clock: Clock): Promise<number[]> {
  const wanted = new Set([...NEIGHBOURS.map((step) => port + step), ...USUAL_PORTS]);
  const candidates = [...wanted].filter(
    (candidate) => candidate >= 1 && candidate <= 65_535 && candidate !== port && !except.includes(candidate),
  );
  const open = await Promise.all(candidates.map((candidate) => isOpen(candidate, clock)));
  return candidates.filter((_, i) => open[i]).sort((a, b) => Math.abs(a - port) - Math.abs(b - port));
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

async function isOpen(port: number, clock: Clock): Promise<boolean> {
  return (await tryLoopback(port, clock)).includes(true);
}

function tryLoopback(port: number, clock: Clock): Promise<(boolean | undefined)[]> {
  return Promise.all(LOOPBACK.map((address) => takesConnections(port, address, clock)));
}

/** Undefined where it did not show in time, as on a busy machine. */
function takesConnections(port: number, host: string, clock: Clock): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const end = (open: boolean | undefined) => {
      cancel();
      socket.destroy();
      resolve(open);
    };
    const cancel = clock.after(PATIENCE_MS, () => end(undefined));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}

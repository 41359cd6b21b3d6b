/** What `--chaos` may do to deliveries. */
export const CHAOS_FAULTS = ["duplicate", "reorder", "delay", "drop", "badsig", "stale", "burst"] as const;

export type ChaosFault = (typeof CHAOS_FAULTS)[number];

/** Fractions from 0 to 1 say how many events are hit. */
export interface ChaosSettings {
  /** Sent twice: in turn, or at once. */
  duplicate: number;
  /** Overtaken by up to three later events. */
  reorder: number;
  /** Bounds of a delay that each event gets, in milliseconds. */
  delay: { least: number; most: number } | undefined;
  /** Lost at first, and delivered again later. */
  drop: number;
  /** Preceded by a copy that is signed with a wrong secret. */
  badsig: number;
  /** Preceded by a copy whose timestamp is older than the tolerance. */
  stale: number;
  /** So many are held back and sent at once. */
  burst: number | undefined;
  /** The same seed and the same events give the same faults. */
  seed: number;
}

/** A `--chaos` that cannot be read; the message names the fix. */
export class ChaosSettingsError extends Error {
  override name = "ChaosSettingsError";
}

const BURST_MOST = 256;
const DELAY_MOST_MS = 60_000;
const SEED_MOST = 0xffff_ffff;
const NAMES = [...CHAOS_FAULTS, "seed"];
const FRACTIONS = ["duplicate", "reorder", "drop", "badsig", "stale"] as const;

/** Reads `duplicate=0.1,delay=0-3s,seed=7`; `newSeed` is asked where no seed is given. Throws ChaosSettingsError. */
export function parseChaosSettings(text: string, newSeed: () => number): ChaosSettings {
  const given = new Map<string, string>();
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=", 2).map((half) => half.trim());
    if (!NAMES.includes(name)) {
      throw new ChaosSettingsError(`"${name}" is no fault: there are ${NAMES.join(", ")}`);
    }
    if (given.has(name)) throw new ChaosSettingsError(`${name} was given twice`);
    given.set(name, value);
  }
  if ([...given.keys()].every((name) => name === "seed")) {
    throw new ChaosSettingsError("no fault was given: write for example duplicate=0.1,badsig=0.05");
  }
  const fraction = (name: string) => (given.has(name) ? readFraction(name, given.get(name)!) : 0);
  const burst = given.get("burst");
  const delay = given.get("delay");
  const seed = given.get("seed");
  return {
    duplicate: fraction("duplicate"),
    reorder: fraction("reorder"),
    drop: fraction("drop"),
    badsig: fraction("badsig"),
    stale: fraction("stale"),
    delay: delay === undefined ? undefined : readDelay(delay),
    burst: burst === undefined ? undefined : readWhole("burst", burst, 2, BURST_MOST),
    seed: seed === undefined ? newSeed() : readWhole("seed", seed, 0, SEED_MOST),
  };
}

/** The settings as they can be given again. */
export function formatChaosSettings(settings: ChaosSettings): string {
  const { delay, burst, seed } = settings;
  const parts = FRACTIONS.filter((name) => settings[name] > 0).map((name) => `${name}=${settings[name]}`);
  if (delay !== undefined) parts.push(`delay=${delay.least}-${delay.most}ms`);
  if (burst !== undefined) parts.push(`burst=${burst}`);
  return [...parts, `seed=${seed}`].join(",");
}

function readFraction(name: string, text: string): number {
  const value = Number(text);
  if (/^(\d+(\.\d*)?|\.\d+)$/.test(text) && value >= 0 && value <= 1) return value;
  throw new ChaosSettingsError(`${name}=${text} is no fraction from 0 to 1, such as 0.1`);
}

function readWhole(name: string, text: string, least: number, most: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new ChaosSettingsError(`${name}=${text} is no whole number from ${least} to ${most}`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, "": 1000 };

/** `0-3s`, `200ms-1s`, `500ms`; a bound without a unit takes the other's. */
function readDelay(text: string): { least: number; most: number } {
  const bound = String.raw`(\d{1,6}(?:\.\d{1,3})?)(ms|s)?`;
  const [, first, firstUnit, second, secondUnit] = new RegExp(`^${bound}(?:-${bound})?$`).exec(text) ?? [];
  if (first !== undefined) {
    const unit = firstUnit ?? secondUnit ?? "";
    const low = Number(first) * UNITS[unit]!;
    const high = second === undefined ? low : Number(second) * UNITS[secondUnit ?? unit]!;
    if (low <= high && high <= DELAY_MOST_MS) return { least: low, most: high };
  }
  throw new ChaosSettingsError(`delay=${text} is no span of time up to 60s, such as 0-3s or 200ms-1s`);
}

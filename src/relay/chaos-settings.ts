export const CHAOS_FAULTS = ["duplicate", "reorder", "delay", "drop", "badsig", "stale", "burst"] as const;

export type ChaosFault = (typeof CHAOS_FAULTS)[number];

/** Faults that a receiver must reject. */
export type Forgery = "badsig" | "stale";

export function isForgery(fault: string | undefined): fault is Forgery {
  return fault === "badsig" || fault === "stale";
}

/** Fractions from 0 to 1 of the events that are affected. */
export interface ChaosSettings {
  /** Events that are sent twice: concurrently, or one after the other. */
  duplicate: number;
  /** Events that up to three later ones overtake. */
  reorder: number;
  /** Bounds of a delay of each event, in milliseconds. */
  delay: { min: number; max: number } | undefined;
  /** Events that are dropped, and delivered later. */
  drop: number;
  /** Events that follow a copy which is signed with another secret. */
  badsig: number;
  /** Preceded by a copy whose timestamp is older than the tolerance. */
  stale: number;
  /** Number of events that are held back and sent at once. */
  burst: number | undefined;
  /** The same seed and the same events give the same faults. */
  seed: number;
}

/** An invalid `--chaos`; the message names the fix. */
export class ChaosSettingsError extends Error {
  override name = "ChaosSettingsError";
}

const MAX_BURST = 256;
const MAX_DELAY_MS = 60_000;
const MAX_SEED = 0xffff_ffff;
const NAMES = [...CHAOS_FAULTS, "seed"];
const FRACTIONS = ["duplicate", "reorder", "drop", "badsig", "stale"] as const;

/** Parses `duplicate=0.1,delay=0-3s,seed=7`; `newSeed` supplies a missing seed. Throws ChaosSettingsError. */
export function parseChaosSettings(text: string, newSeed: () => number): ChaosSettings {
  const given = new Map<string, string>();
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=", 2).map((half) => half.trim());
    if (!NAMES.includes(name)) {
      throw new ChaosSettingsError(`unknown fault "${name}": use ${NAMES.join(", ")}`);
    }
    if (given.has(name)) throw new ChaosSettingsError(`${name} is repeated`);
    given.set(name, value);
  }
  if ([...given.keys()].every((name) => name === "seed")) {
    throw new ChaosSettingsError("no fault given: use for example duplicate=0.1,badsig=0.05");
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
    burst: burst === undefined ? undefined : readWhole("burst", burst, 2, MAX_BURST),
    seed: seed === undefined ? newSeed() : readWhole("seed", seed, 0, MAX_SEED),
  };
}

/** Returns the settings in the form that `parseChaosSettings` reads. */
export function formatChaosSettings(settings: ChaosSettings): string {
  const { delay, burst, seed } = settings;
  const parts = FRACTIONS.filter((name) => settings[name] > 0).map((name) => `${name}=${settings[name]}`);
  if (delay !== undefined) parts.push(`delay=${delay.min}-${delay.max}ms`);
  if (burst !== undefined) parts.push(`burst=${burst}`);
  return [...parts, `seed=${seed}`].join(",");
}

function readFraction(name: string, text: string): number {
  const value = Number(text);
  if (/^(\d+(\.\d*)?|\.\d+)$/.test(text) && value >= 0 && value <= 1) return value;
  throw new ChaosSettingsError(`${name}=${text} is not a fraction from 0 to 1, such as 0.1`);
}

function readWhole(name: string, text: string, min: number, max: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new ChaosSettingsError(`${name}=${text} is not a whole number from ${min} to ${max}`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, "": 1000 };

/** Parses `0-3s`, `200ms-1s` or `500ms`; a bound without a unit has that of the other. */
function readDelay(text: string): { min: number; max: number } {
  const bound = String.raw`(\d{1,6}(?:\.\d{1,3})?)(ms|s)?`;
  const [, first, firstUnit, second, secondUnit] = new RegExp(`^${bound}(?:-${bound})?$`).exec(text) ?? [];
  if (first !== undefined) {
    const unit = firstUnit ?? secondUnit ?? "";
    const low = Number(first) * UNITS[unit]!;
    const high = second === undefined ? low : Number(second) * UNITS[secondUnit ?? unit]!;
    if (low <= high && high <= MAX_DELAY_MS) return { min: low, max: high };
  }
  throw new ChaosSettingsError(`delay=${text} is not a duration up to 60s, such as 0-3s or 200ms-1s`);
}

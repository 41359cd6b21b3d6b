import type { FaultCreate } from "../../../../contract/schemas/fault.ts";

type Effect = Pick<FaultCreate, "effect" | "status" | "delay_ms">;
type Method = NonNullable<FaultCreate["match"]["method"]>;

const OUTAGES: readonly Effect[] = [
  { effect: "status", status: 503 },
  { effect: "status", status: 429 },
  { effect: "status", status: 500 },
  { effect: "status", status: 502 },
  { effect: "disconnect" },
];
/** What the requests of each method get: a lost response matters most where a request creates something. */
const EFFECTS: Readonly<Record<Method, readonly Effect[]>> = {
  POST: [...OUTAGES, { effect: "lose_response" }, { effect: "lose_response" }],
  GET: [...OUTAGES, { effect: "truncate" }],
  PATCH: [...OUTAGES, { effect: "lose_response" }],
  DELETE: [...OUTAGES, { effect: "lose_response" }],
};
/** Faults per method. With the successful requests between them, they reach the sandbox's limit. */
const FAULTS_OF_A_METHOD = 12;
/** Stands for a request without a fault, because a used-up fault leaves the request to the next one. */
const NOTHING: Effect = { effect: "delay", delay_ms: 1 };

/**
 * Returns the faults of one run, in the order in which requests of their method get them, with one or two requests
 * between them that succeed. The same seed gives the same faults.
 */
export function planFaults(seed: number): FaultCreate[] {
  const random = randomOf(seed);
  const methods = Object.keys(EFFECTS) as Method[];
  return methods.flatMap((method) => {
    const match = { method, path: "/v1/*" };
    const effects: Effect[] = [];
    while (effects.length < FAULTS_OF_A_METHOD) effects.push(...shuffled(EFFECTS[method], random));
    return effects.slice(0, FAULTS_OF_A_METHOD).flatMap((effect, index): FaultCreate[] => {
      const between = index === 0 ? Math.floor(random() * 2) : 1 + Math.floor(random() * 2);
      const fault = { match, ...effect, times: 1 };
      return between === 0 ? [fault] : [{ match, ...NOTHING, times: between }, fault];
    });
  });
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!);
}

/** Mulberry32: the same numbers for the same seed on every machine. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

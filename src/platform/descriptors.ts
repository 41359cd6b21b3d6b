import { readFileSync } from "node:fs";

/** For the database, logs, name servers and Node itself. */
const RESERVED = 40;

/** How many of the file descriptors that the process may open (`ulimit -n`) are for what. */
export interface DescriptorBudget {
  /** Attempts in flight. */
  deliveries: number;
  /** Connections of clients. */
  connections: number;
}

/** Divides the limit so that clients with many connections leave some for deliveries; undefined where it is unknown. */
export function descriptorBudget(maxDeliveries: number): DescriptorBudget | undefined {
  const limit = openFileLimit();
  if (limit === undefined) return undefined;
  const spare = Math.max(8, limit - RESERVED);
  const deliveries = Math.min(maxDeliveries, Math.floor(spare / 4));
  return { deliveries, connections: spare - deliveries };
}

/** Linux tells; elsewhere Node offers it only in a report that takes long to make. */
function openFileLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

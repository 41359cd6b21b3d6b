import { core } from "./001-core.ts";
import type { Migration } from "./migration.ts";

/** In the order in which they run. A released migration never changes. */
export const MIGRATIONS: readonly Migration[] = [core];

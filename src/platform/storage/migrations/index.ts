import { initial } from "./001-initial.ts";
import type { Migration } from "./migration.ts";

/** In the order in which they run. A released migration never changes. */
export const MIGRATIONS: readonly Migration[] = [initial];

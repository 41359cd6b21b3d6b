import type { Migration } from "./migration.ts";

/** An attempt of a listener says which faults it injected. */
export const injectedFaults: Migration = {
  number: 11,
  name: "injected faults",
  statements: () => ["ALTER TABLE attempts ADD COLUMN injected TEXT"],
};

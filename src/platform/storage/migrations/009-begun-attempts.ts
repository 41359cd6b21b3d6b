import type { Migration } from "./migration.ts";

/** Which claimed deliveries are being attempted, so that an attempt that a crash interrupted counts. */
export const begunAttempts: Migration = {
  number: 9,
  name: "begun attempts",
  // In the environment's time, as the attempts' own times are.
  statements: ({ integer }) => [`ALTER TABLE deliveries ADD COLUMN begun_at ${integer}`],
};

import type { Migration } from "./migration.ts";

/** Two listeners of one machine have the same ID, and forward to different applications. */
export const deliveryTargets: Migration = {
  number: 9,
  name: "delivery targets",
  statements: () => [
    // The URL that a listener forwarded to.
    "ALTER TABLE deliveries ADD COLUMN target TEXT",
  ],
};

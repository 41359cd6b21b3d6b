import type { Migration } from "./migration.ts";

/** A retry of a listener's delivery is a replay for those of its sessions that forward to one target. */
export const addressedReplays: Migration = {
  number: 13,
  name: "addressed replays",
  statements: ({ dialect, id }) => [
    `ALTER TABLE replays ADD COLUMN listener_id ${id}`,
    "ALTER TABLE replays ADD COLUMN target TEXT",
    // The open connections of a process, as JSON.
    ...(dialect === "sqlite" ? [] : ["ALTER TABLE listener_counts ADD COLUMN connections TEXT"]),
  ],
};

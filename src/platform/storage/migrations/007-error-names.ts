import type { Migration } from "./migration.ts";

/** Gives the errors of attempts and requests the names that they have since the first release. */
export const errorNames: Migration = {
  number: 7,
  name: "error names",
  statements: ({ dialect }) => [
    // An attempt's error is its name, a colon and a description.
    ...["attempts", "attempt_counts", ...(dialect === "sqlite" ? [] : ["attempt_count_changes"])].map(
      (table) =>
        `UPDATE ${table} SET error = 'invalid_response' || substr(error, 14) WHERE substr(error, 1, 14) = 'invalid_reply:'`, // style-ok
    ),
    `UPDATE request_logs SET error_code = 'exceeds_creator' WHERE error_code = 'exceeds_maker'`,
  ],
};

import type { Migration } from "./migration.ts";

/**
 * Sandboxes that start again. The rows of an environment carry its number, so a sandbox is reset by giving it another
 * number: the rows of the former one are removed later. An environment's name is `live`, `sandbox`, `snapshot <name>`,
 * `unfinished <number>` or `removed <number>`.
 */
export const sandbox: Migration = {
  number: 4,
  name: "sandbox",
  statements: ({ integer }) => [
    // since: when a sandbox was reset, a snapshot was saved, or an environment was removed, in real time.
    `ALTER TABLE environments ADD COLUMN since ${integer}`,
    // objects: how many a snapshot has.
    `ALTER TABLE environments ADD COLUMN objects ${integer}`,
    // They were only needed while a test clock could be set back.
    `ALTER TABLE environments DROP COLUMN ids_ahead_from`,
    `ALTER TABLE environments DROP COLUMN ids_ahead_until`,
    // An endpoint keeps its ID when the sandbox is reset, but not its deliveries.
    `DROP INDEX deliveries_waiting`,
    `CREATE INDEX deliveries_waiting ON deliveries (environment, endpoint_id, next_attempt)
       WHERE status = 'pending' AND lease_until IS NULL`,
    // A full key has every permission.
    `UPDATE api_keys SET scopes = replace(scopes, ']', ',"sandbox:read","sandbox:write"]') WHERE kind = 'secret_key'`,
  ],
};

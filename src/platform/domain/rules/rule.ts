import type { Transaction } from "../../storage/database.ts";
import type { ObjectRow } from "../../storage/objects.ts";

/**
 * A rule of one resource. It runs after an object was created, updated or moved to another status, in the same
 * transaction, and throws ApiError to undo all of it. `before` is the row before the change; undefined for a new one.
 */
export type Rule = (tx: Transaction, after: ObjectRow, before: ObjectRow | undefined) => Promise<void>;

import type { ObjectKind } from "../../../contract/resources.ts";
import type { Transaction } from "../../storage/database.ts";
import type { ObjectRow } from "../../storage/objects.ts";

/**
 * A rule of one resource. It runs after an object was created, updated or moved to another status, in the same
 * transaction, and throws ApiError to undo all of it. `before` is the row before the change; undefined for a new one.
 */
export type Rule = (tx: Transaction, after: ObjectRow, before: ObjectRow | undefined) => Promise<void>;

/**
 * The rules, each in a file of its own. A resource with a rule changes one object at a time in an environment, in any
 * process, so that a rule may count or sum what is stored.
 */
export const RULES: { readonly [Kind in ObjectKind]?: Rule } = {};

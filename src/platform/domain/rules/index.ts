import type { ObjectKind } from "../../../contract/resources.ts";
import type { Rule } from "./rule.ts";

/**
 * The rules, each in a file of its own. A resource with a rule changes one object at a time in an environment, in any
 * process, so that a rule may count or sum what is stored.
 */
export const RULES: { readonly [Kind in ObjectKind]?: Rule } = {};

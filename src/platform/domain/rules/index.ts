import type { ObjectKind } from "../../../contract/resources.ts";
import type { Rule } from "./rule.ts";

/** A resource with a rule changes one object at a time per environment, so that a rule may sum what is stored. */
export const RULES: { readonly [Kind in ObjectKind]?: Rule } = {};

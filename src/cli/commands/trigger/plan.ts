import type { EventType } from "../../../contract/event-types.ts";
import { assign } from "../../arguments/assignments.ts";
import { UsageError } from "../../errors.ts";
import { objectOfPairs, type Pair } from "../../arguments/pairs.ts";
import { eventStep, RECIPES, type Step } from "./recipes.ts";

/** The calls that make the event happen: the recipe's, or one with the whole `data.object` given. */
export function planSteps(
  type: EventType,
  overrides: readonly Pair[],
  data: Record<string, unknown> | undefined,
): Step[] {
  objectOfPairs(overrides, "--override");
  if (data !== undefined)
    return [
      eventStep(
        type,
        overrides.reduce((object, [path, value]) => assign(object, path, value), data),
      ),
    ];
  const steps = RECIPES[type];
  for (const [path] of overrides) {
    if (steps.some((step) => takes(step, path))) continue;
    const known = steps.flatMap((step) => step.takes);
    throw new UsageError(`${type} does not support --override ${path}`, {
      hint:
        known.length > 0
          ? `Supported: ${known.join(", ")}. For other fields, pass --data FILE.`
          : "Pass the complete object: --data FILE.",
    });
  }
  return steps.map((step) => withOverrides(step, overrides));
}

function withOverrides(step: Step, overrides: readonly Pair[]): Step {
  const { body } = step;
  const own = overrides.filter(([path]) => takes(step, path));
  if (body === undefined || own.length === 0) return step;
  return {
    ...step,
    body: (...of) => own.reduce((members, [path, value]) => assign(members, path, value), body(...of)),
  };
}

function takes(step: Step, path: string): boolean {
  return step.takes.includes(path.split(".")[0]!);
}

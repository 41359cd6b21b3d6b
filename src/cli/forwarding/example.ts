import { EVENT_TYPES, type EventType, matchesSubscriptions } from "../../contract/event-types.ts";
import { inputFieldsOf, OBJECT_KINDS, type ObjectKind } from "../../contract/resources.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { type Condition, meets } from "../arguments/assignments.ts";

/** A command that creates an event, and the conditions of `--where` that the event may not meet. */
export interface Example {
  command: string;
  unmet: readonly string[];
}

/** Returns a command whose event passes these filters, as far as one can be derived. */
export function exampleFor({
  events = ["*"],
  where = [],
}: {
  events?: readonly string[] | undefined;
  where?: readonly Condition[] | undefined;
}): Example {
  const types = (["order.completed", ...EVENT_TYPES] as const).filter((type) => matchesSubscriptions(events, type));
  const metBy = (type: EventType) => where.filter((condition) => canMeet(type, condition)).length;
  const type = types.reduce((best, type) => (metBy(type) > metBy(best) ? type : best));
  const overrides = where.filter((condition) => fieldIn(type, condition) !== undefined);
  const flags = overrides.flatMap((condition) => ["--override", `${fieldIn(type, condition)}=${condition.value}`]);
  return {
    command: shellCommand`service trigger ${[type, ...flags]}`,
    unmet: where.filter((condition) => !canMeet(type, condition)).map(({ text }) => text),
  };
}

function canMeet(type: EventType, condition: Condition): boolean {
  if (condition.path === "type") return meets({ type }, condition);
  if (condition.path === "livemode") return meets({ livemode: false }, condition);
  if (condition.path === "data.object.status") return type.endsWith(`.${condition.value}`) && !condition.isNegated;
  return fieldIn(type, condition) !== undefined;
}

/** Returns the field of the event's object that the condition is about, if `trigger --override` can set it. */
function fieldIn(type: EventType, { path, isNegated }: Condition): string | undefined {
  const kind = OBJECT_KINDS.find((kind: ObjectKind) => type.startsWith(`${kind}.`));
  const [, field = "", name = ""] = /^data\.object\.(([\w-]+).*)$/.exec(path) ?? [];
  if (kind === undefined || isNegated) return undefined;
  return inputFieldsOf(kind).some(([input]) => input === name) ? field : undefined;
}

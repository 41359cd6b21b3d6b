import { apiPath } from "../../client/base-url.ts";
import type { Method } from "../../client/http.ts";
import type { EventType } from "../../contract/event-types.ts";
import { typeOf } from "../../contract/field-types.ts";
import { parseJson } from "../../contract/json.ts";
import {
  exampleOf,
  type Field,
  inputFieldsOf,
  kindsWith,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
} from "../../contract/resources.ts";
import { assign } from "../arguments/assignments.ts";
import { objectOfPairs, type Pair } from "../arguments/repeated.ts";
import { AMOUNT_KIND } from "../arguments/values.ts";
import { UsageError } from "../errors.ts";

/** One API call of a recipe. `id` is that of the object that the previous call created. */
export interface Step {
  method: Method;
  path(id: string): string;
  /** Absent for a call without a body. */
  body?: (unique: string, id: string) => Record<string, unknown>;
  /** Members of the body that `--override` can set. */
  takes: readonly string[];
}

/** The API calls that cause each event, as an application would make them. */
export const RECIPES = Object.fromEntries(
  kindsWith("events").flatMap((kind) =>
    RESOURCES[kind].events.map((change) => [`${kind}.${change}`, recipeOf(kind, change)] as const),
  ),
) as Readonly<Record<EventType, readonly Step[]>>;

/** Returns a call that creates the event itself with this `data.object`, which works in the sandbox only. */
function eventStep(type: EventType, object: Record<string, unknown>): Step {
  return { method: "POST", path: () => "/v1/events", body: () => ({ type, data: { object } }), takes: [] };
}

function recipeOf(kind: ReturnType<typeof kindsWith<"events">>[number], change: string): readonly Step[] {
  if (!OBJECT_KINDS.includes(kind as ObjectKind)) {
    const { statuses = {} } = resourceOf(kind);
    const status = change in statuses ? change : Object.keys(statuses)[0];
    return [eventStep(`${kind}.${change}` as EventType, { object: kind, status })];
  }
  const create = createSteps(kind as ObjectKind);
  if (change === "created") return create;
  // Later updates keep the example's values.
  const before = create.map((step) => ({ ...step, takes: change === "updated" ? [] : step.takes }));
  return [...before, changeStep(kind as ObjectKind, change)];
}

/** Returns the calls that create an object, preceded by those for objects that it must refer to. */
function createSteps(kind: ObjectKind): Step[] {
  const fields = inputFieldsOf(kind);
  const owner = fields.find(([, { type, required }]) => type === "id" && required);
  const body = (unique: string, id: string) =>
    Object.fromEntries(
      fields
        .filter(([, { type, required }]) => required || type === "text")
        .map(([name, field]) => [name, name === owner?.[0] ? id : varied(field, unique, exampleOf(field))]),
    );
  const create: Step = { method: "POST", path: () => pathOf(kind), body, takes: fields.map(([name]) => name) };
  return owner === undefined ? [create] : [...createSteps(owner[1].of as ObjectKind), create];
}

function changeStep(kind: ObjectKind, change: string): Step {
  const path = (id: string) => pathOf(kind) + apiPath`/${id}`;
  if (change === "deleted") return { method: "DELETE", path, takes: [] };
  if (change === "updated") {
    const fields = inputFieldsOf(kind);
    const changed = fields.filter(([, { examples }]) => examples?.[1] !== undefined);
    const body = (unique: string) =>
      Object.fromEntries(changed.map(([name, field]) => [name, varied(field, unique, field.examples![1])]));
    return { method: "PATCH", path, body, takes: fields.map(([name]) => name) };
  }
  const actions = Object.entries(resourceOf(kind).actions ?? {});
  const [verb, { takes = {} }] = actions.find(([, { to }]) => to === change)!;
  return { method: "POST", path: (id) => `${path(id)}/${verb}`, body: () => ({}), takes: Object.keys(takes) };
}

/** Returns an example that no other object has, if the field is unique. */
function varied({ type, unique: isUnique }: Field, unique: string, example: string | number | undefined): unknown {
  return isUnique ? typeOf(type).vary!(String(example), unique) : example;
}

/** Returns the calls that cause the event: the recipe's, or one with the whole `data.object` given. */
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
  overrides.forEach(assertAmount);
  return steps.map((step) => withOverrides(step, overrides.map(inUpperCase)));
}

/** Says of an amount what its flag would: the platform says only that it must be an integer. */
function assertAmount([path, value]: Pair): void {
  const isAmount = OBJECT_KINDS.flatMap(inputFieldsOf).some(([name, { type }]) => name === path && type === "amount");
  if (!isAmount || Number.isInteger(parseJson(value))) return;
  throw new UsageError(`--override ${path}: must be ${AMOUNT_KIND}, not "${value}"`);
}

/** Returns a value as the flag of its field would: currency codes may be typed in any case. */
function inUpperCase([path, value]: Pair): Pair {
  const isUpperCase = OBJECT_KINDS.flatMap(inputFieldsOf).some(([name, { type }]) => {
    const { flagParser, flagCheck } = typeOf(type);
    return name === path && flagParser === "upper case" && flagCheck?.accepts(value) !== false;
  });
  return [path, isUpperCase ? value.toUpperCase() : value];
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

/** Returns the fields that `--override` can set, with the values that the calls would send. */
export function editableFields(steps: readonly Step[], unique: string): Record<string, unknown> {
  const bodies = steps.map(({ takes, body }) =>
    Object.entries(body?.(unique, "{id}") ?? {}).filter(([name]) => takes.includes(name)),
  );
  return Object.fromEntries(bodies.flat());
}

/** Returns the object of the one call that `--data` plans. */
export function dataOf([step]: readonly Step[]): Record<string, unknown> {
  const { data } = step!.body!("", "") as { data: { object: Record<string, unknown> } };
  return data.object;
}

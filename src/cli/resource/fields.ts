import { InvalidArgumentError } from "commander";
import { type FieldType, pairTypeOf, typeOf } from "../../contract/field-types.ts";
import {
  type Field,
  inputFieldsOf,
  type KindWith,
  lowerFirst,
  RESOURCES,
  withArticle,
} from "../../contract/resources.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { parseHeaders } from "../arguments/headers.ts";
import { collect, collectList, collectPairs, objectOfPairs, type Pair } from "../arguments/repeated.ts";
import { AMOUNT_KIND, assertSubscriptions, duration, objectId, scopeNames, wholeNumber } from "../arguments/values.ts";
import { type CommandDefinition, type Flag, flag, optionOf } from "../command.ts";
import type { Context } from "../context.ts";
import { environmentNow } from "../environment-time.ts";
import { UsageError } from "../errors.ts";
import type { Resource } from "./resource.ts";
import { withSecret } from "./show-secret.ts";
import { changeObject, idOperand, IDEMPOTENCY_KEY } from "./verbs.ts";

/** The flags of a command, as Commander names them. */
export interface Flags extends Record<string, unknown> {
  idempotencyKey?: string;
}

const TEN_YEARS = 3653 * 86_400;
/** The parsers of values, unless any text is valid. */
const PARSERS: Readonly<Record<NonNullable<FieldType["flagParser"]>, (field: Field) => (text: string) => unknown>> = {
  amount: ({ min = 0, max }) => wholeNumber(min, max, AMOUNT_KIND),
  "whole number": ({ min = 0, max }) => wholeNumber(min, max),
  "upper case": () => (text) => text.toUpperCase(),
  ID: () => objectId,
  duration: () => duration(60, TEN_YEARS),
};

/** The placeholder of a list and how it is read, by the format of its items. */
const LISTS: Readonly<Record<string, [placeholder: string, Pick<Flag, "parse" | "collect">]>> = {
  subscription: ["list", { parse: parseList }],
  scope: ["scopes", { collect: scopeNames }],
  cidr: ["ranges", { collect: collectList }],
  "redirect-uri": ["uri", { collect }],
};

function parseList(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) {
    throw new InvalidArgumentError("Must be event types separated by commas, such as 'order.*,customer.created'.");
  }
  if (names.some((name) => name.startsWith("!"))) {
    throw new InvalidArgumentError("An endpoint cannot exclude types with !. List the types that it should receive.");
  }
  return assertSubscriptions(names);
}

export function flagOf(name: string, field: Field, about: string): Flag {
  const { type, of = "", flag: long = name, choices, min, max } = field;
  const declare = (placeholder: string, reading: Pick<Flag, "parse" | "collect" | "choices">): Flag =>
    flag(`--${dashed(long)} <${placeholder}>`, about, reading);
  if (type === "boolean") return flag(`--${dashed(long)}`, about);
  if (type === "map") {
    const { placeholder } = pairTypeOf(field.of);
    return declare(placeholder, { collect: of === "header" ? collect : collectPairs(placeholder) });
  }
  if (type === "list") return declare(...LISTS[of]!);
  const { placeholder: usual = long, flagParser, format, flagCheck = format } = typeOf(type);
  const placeholder = min === undefined || max === undefined ? usual : `${min}-${max}`;
  if (choices !== undefined) return declare(placeholder, { choices });
  const read = flagParser && PARSERS[flagParser](field);
  if (flagCheck === undefined) return declare(placeholder, read === undefined ? {} : { parse: read });
  const parse = (text: string): unknown => {
    // Another flag in the place of the value is reported as such.
    if (!text.startsWith("--") && !flagCheck.accepts(text))
      throw new InvalidArgumentError(`Must be ${flagCheck.expected}.`);
    return read?.(text) ?? text;
  };
  return declare(placeholder, { parse });
}

/** What `create` and `update` of a resource differ in. */
interface Change {
  about?: string;
  examples: readonly string[];
  /** Flags besides those of the fields. */
  further?: readonly Flag[];
}

interface Creation<Item> extends Change, Pick<CommandDefinition, "usage"> {
  /** Called before anything is created; may add flags. */
  check?: (flags: Flags, context: Context) => void | Promise<void>;
  /** Prints the new object (default: as in its view). */
  show?: (created: Item, context: Context) => Promise<void>;
}

/** `create`, with a flag for each field of the table of resources. */
export function createVerb<Item extends { id: string }>(
  kind: KindWith<"fields">,
  resource: Resource<Item>,
  creation: Creation<Item>,
): CommandDefinition {
  const { view } = resource;
  const { about = `Create ${withArticle(view.noun)}`, usage, examples, further = [], check } = creation;
  const { show = (created: Item, { output }: Context) => output.object(created, view) } = creation;
  const own = inputFieldsOf(kind).map(([name, field]) => ({
    ...flagOf(name, field, field.about),
    required: field.required ?? false,
    question: field.question,
  }));
  return {
    name: "create",
    about,
    ...(usage !== undefined && { usage }),
    options: [...own, ...further, IDEMPOTENCY_KEY],
    dryRun: true,
    fields: "secret" in RESOURCES[kind] ? withSecret(kind as KindWith<"secret">, view) : view,
    examples,
    async run(context: Context, flags: Flags) {
      await check?.(flags, context);
      const body = await membersOf(kind, flags, context);
      const { idempotencyKey } = flags;
      const created = await context.request<Item>({ method: "POST", path: resource.path, body, idempotencyKey });
      context.output.success(`Created ${view.noun} ${created.id}`);
      await show(created, context);
    },
  };
}

/** A flag that also takes an empty text, which removes the field. */
function removable(given: Flag): Flag {
  const { parse } = given;
  return parse === undefined ? given : { ...given, parse: (text: string) => (text === "" ? "" : parse(text)) };
}

/** `update`, with a flag for each field that can change. An empty text removes an optional field. */
export function updateVerb<Item extends object>(
  kind: KindWith<"fields">,
  resource: Resource<Item>,
  { about, examples, further = [] }: Change,
): CommandDefinition {
  const { view } = resource;
  const fields = inputFieldsOf(kind).filter(([, { fixed }]) => !fixed);
  const flags = fields.map(([name, field]) => {
    const { label, required, change = `New ${lowerFirst(label)}${required ? "" : "; empty removes it"}` } = field;
    return required ? flagOf(name, field, change) : removable(flagOf(name, field, change));
  });
  const options = [...flags, ...further];
  return {
    name: "update",
    about: about ?? `Update ${withArticle(view.noun)}; omitted fields keep their values`,
    args: [idOperand(view.noun)],
    options,
    dryRun: true,
    fields: view,
    examples,
    async run(context: Context, id: string, given: Flags) {
      const changes = await membersOf(kind, given, context);
      for (const [name, { required }] of fields) if (!required && changes[name] === "") changes[name] = null;
      if (Object.keys(changes).length === 0) {
        const hint = `Pass at least one of ${options.map((flag) => optionOf(flag).long).join(", ")}.`;
        throw new UsageError("No changes specified", { hint });
      }
      await changeObject(context, resource, { id, changes });
    },
  };
}

/** Returns the members of a request's body that were given as flags. */
export async function membersOf(
  kind: KindWith<"fields">,
  flags: Flags,
  context: Context,
): Promise<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<Field>(RESOURCES[kind].fields)) {
    const given = flags[optionOf(flagOf(name, field, "")).attributeName()];
    if (given !== undefined) members[name] = await valueOf(name, field, given, context);
  }
  return members;
}

async function valueOf(name: string, { type, of, flag: long = name }: Field, given: unknown, context: Context) {
  // An object expires by the clock of its environment.
  if (type === "expiry") {
    return formatTimestamp((await environmentNow(context)) + (given as number) * 1000);
  }
  if (type === "map") {
    const pairs = of === "header" ? parseHeaders(await linesOf(given as string[], context)) : (given as Pair[]);
    return objectOfPairs(pairs, `--${dashed(long)}`);
  }
  return of === "cidr" ? (given as string[]).filter((range) => range !== "any") : given;
}

/** Returns the lines of `--header`. `@file` keeps them out of the process list. */
async function linesOf(given: readonly string[], context: Context): Promise<string[]> {
  const lines: string[] = [];
  for (const text of given) {
    if (!text.startsWith("@")) lines.push(text);
    else lines.push(...(await context.readInput(text.slice(1), "--header")).toString("utf8").split(/\r?\n/));
  }
  return lines.filter((line) => line.trim() !== "");
}

export function exampleFlag(name: string, value: string | number): string {
  return `--${dashed(name)} ${/\s/.test(String(value)) ? `'${value}'` : value}`;
}

export function dashed(name: string): string {
  return name.replaceAll("_", "-");
}

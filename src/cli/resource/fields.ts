import { type Command, InvalidArgumentError, Option } from "commander";
import { type FieldType, typeOf } from "../../contract/field-types.ts";
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
import { collect, collectList, objectOfPairs, type Pair, repeatable } from "../arguments/repeated.ts";
import { duration, objectId, scopeNames, wholeNumber } from "../arguments/values.ts";
import type { Context } from "../context.ts";
import { addDryRun } from "../dry-run.ts";
import { environmentNow } from "../environment-time.ts";
import { UsageError } from "../errors.ts";
import { addExamples, addFields } from "../help-layout.ts";
import type { Resource } from "./resource.ts";
import { addIdempotencyKey, changeObject, createObject } from "./verbs.ts";

/** The flags of a command, as Commander names them. */
export interface Flags extends Record<string, unknown> {
  metadata?: Pair[];
  idempotencyKey?: string;
}

const TEN_YEARS = 3653 * 86_400;
/** `12.50` is the likeliest mistake. */
const AMOUNT_KIND = "a whole number of the currency's minor unit: 1250 for 12.50 EUR";

/** The parsers of values, unless any text is valid. */
const PARSERS: Readonly<Record<NonNullable<FieldType["reads"]>, (text: string) => unknown>> = {
  "whole number": wholeNumber(0, undefined, AMOUNT_KIND),
  "upper case": (text) => text.toUpperCase(),
  ID: objectId,
  duration: duration(60, TEN_YEARS),
};

/** The flag of a list, by the format of its items. */
const LISTS: Readonly<Record<string, (name: string, about: string) => Option>> = {
  subscription: (name, about) => new Option(`${name} <list>`, about).argParser(parseList),
  scope: (name, about) => repeatable(new Option(`${name} <scopes>`, about), scopeNames),
  cidr: (name, about) => repeatable(new Option(`${name} <ranges>`, about), collectList),
  "redirect-uri": (name, about) => repeatable(new Option(`${name} <uri>`, about), collect),
};

/** Parses `--events a,b`. The platform checks which of them exist. */
function parseList(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) {
    throw new InvalidArgumentError("Must be event types separated by commas, such as 'order.*,customer.created'.");
  }
  return names;
}

/** Returns the flag of a field. */
export function flagOf(name: string, { type, of = "", flag = name, choices }: Field, about: string): Option {
  const long = `--${dashed(flag)}`;
  if (type === "boolean") return new Option(long, about);
  if (type === "headers") return repeatable(new Option(`${long} <header>`, about), collect);
  if (type === "list") return LISTS[of]!(long, about);
  const { placeholder = flag, reads } = typeOf(type);
  const option = new Option(`${long} <${placeholder}>`, about);
  if (choices !== undefined) return option.choices(choices);
  return reads === undefined ? option : option.argParser(PARSERS[reads]);
}

interface Creation<Item> {
  description?: string;
  examples: readonly string[];
  /** Flags besides those of the fields. */
  further?: readonly Option[];
  /** Called before anything is created. */
  check?: (flags: Flags) => void;
  /** Prints the new object (default: as in its view). */
  show?: (created: Item) => Promise<void>;
}

/** `create`, with a flag for each field of the table of resources. */
export function registerCreate<Item extends { id: string }>(
  group: Command,
  context: Context,
  kind: KindWith<"fields">,
  resource: Resource<Item>,
  creation: Creation<Item>,
): void {
  const { view } = resource;
  const { description = `Create ${withArticle(view.noun)}`, examples, further = [], check } = creation;
  const { show = (created: Item) => context.output.object(created, view) } = creation;
  const create = group.command("create").description(description);
  for (const [name, field] of inputFieldsOf(kind)) {
    create.addOption(flagOf(name, field, field.about).makeOptionMandatory(field.required ?? false));
  }
  for (const option of further) create.addOption(option);
  addIdempotencyKey(create).action(async (flags: Flags) => {
    check?.(flags);
    const body = await membersOf(kind, flags, context);
    await show(await createObject(context, resource, body, flags.idempotencyKey));
  });
  addExamples(addFields(create, view), examples);
}

interface Update {
  description?: string;
  examples: readonly string[];
  /** Flags besides those of the fields. */
  further?: readonly Option[];
}

/** `update`, with a flag for each field that can change. An empty text removes an optional field. */
export function registerUpdate<Item extends object>(
  group: Command,
  context: Context,
  kind: KindWith<"fields">,
  resource: Resource<Item>,
  { description, examples, further = [] }: Update,
): void {
  const { view } = resource;
  const update = group
    .command("update")
    .description(description ?? `Update ${withArticle(view.noun)}; omitted fields keep their values`)
    .argument("<id>", `ID of the ${view.noun}`, objectId);
  const fields = inputFieldsOf(kind).filter(([, { fixed }]) => !fixed);
  const flags = fields.map(([name, field]) => {
    const { label, required, change = `New ${lowerFirst(label)}${required ? "" : "; empty removes it"}` } = field;
    return flagOf(name, field, change);
  });
  const options = [...flags, ...further];
  for (const option of options) update.addOption(option);
  update.action(async (id: string, given: Flags) => {
    const changes = await membersOf(kind, given, context);
    for (const [name, { required }] of fields) if (!required && changes[name] === "") changes[name] = null;
    if (Object.keys(changes).length === 0) {
      const hint = `Pass at least one of ${options.map(({ long }) => long).join(", ")}.`;
      throw new UsageError("No changes specified", { hint });
    }
    await changeObject(context, resource, { id, changes });
  });
  addExamples(addDryRun(addFields(update, view)), examples);
}

/** Returns the members of a request's body that were given as flags, and the metadata. */
export async function membersOf(
  kind: KindWith<"fields">,
  flags: Flags,
  context: Context,
): Promise<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<Field>(RESOURCES[kind].fields)) {
    const given = flags[flagOf(name, field, "").attributeName()];
    if (given !== undefined) members[name] = await valueOf(field, given, context);
  }
  const { metadata = [] } = flags;
  return metadata.length === 0 ? members : { ...members, metadata: objectOfPairs(metadata, "--metadata") };
}

async function valueOf({ type, of }: Field, given: unknown, context: Context): Promise<unknown> {
  // An object expires by the clock of its environment.
  if (type === "expiry") {
    return formatTimestamp((await environmentNow(await context.client(), context)) + (given as number) * 1000);
  }
  if (type === "headers") return objectOfPairs(parseHeaders(given as string[]), "--header");
  return of === "cidr" ? (given as string[]).filter((range) => range !== "any") : given;
}

/** Returns a flag with a value, as typed. */
export function exampleFlag(name: string, value: string | number): string {
  return `--${dashed(name)} ${/\s/.test(String(value)) ? `'${value}'` : value}`;
}

export function dashed(name: string): string {
  return name.replaceAll("_", "-");
}

import { type Command, Option } from "commander";
import {
  type Field,
  inputFieldsOf,
  kindsWith,
  type KindWith,
  type ObjectKind,
  resourceOf,
  RESOURCES,
  statusesOf,
  withArticle,
} from "../../../contract/resources.ts";
import { objectOfPairs, type Pair, pairsOption } from "../../arguments/repeated.ts";
import { objectId, wholeNumber } from "../../arguments/values.ts";
import type { CommandModule } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import type { Column } from "../../terminal/view.ts";
import { AMOUNT, CREATED, CREATED_AT, ENVIRONMENT, ID, METADATA, statusColumn } from "./columns.ts";
import { exampleIdOf, locationOf, nounsFor, type Resource } from "./resource.ts";
import {
  addIdempotencyKey,
  assertChanges,
  changeObject,
  createObject,
  searchFilters,
  registerAction,
  registerDelete,
  registerGet,
  registerList,
} from "./verbs.ts";

/**
 * Returns the command of a resource that is described by its fields in the table of resources, with the verbs that the
 * resource has.
 */
export function commandOf(kind: ObjectKind): CommandModule {
  return { register: (program, context) => register(program, context, kind) };
}

function register(program: Command, context: Context, kind: ObjectKind): void {
  const { updatable, deletable, actions = {} } = resourceOf(kind);
  const resource = objectResource(kind);
  const { exampleId } = resource;
  const group = program.command(resource.command).description(RESOURCES[kind].command.summary);
  const [firstAction] = Object.keys(actions);
  addExamples(group, [
    exampleOfCreate(kind, "text"),
    ...(firstAction === undefined ? [] : [`service ${resource.command} ${firstAction} ${exampleId}`]),
    ...(updatable ? [`service ${resource.command} update ${exampleId} --metadata plan=pro`] : []),
    `service ${resource.command} list --created-after 7d`,
  ]);
  registerCreate(group, context, kind, resource);
  for (const [verb, { to, about, takes = {} }] of Object.entries(actions)) {
    registerAction(group, context, resource, {
      verb,
      description: about,
      done: (id) => `${RESOURCES[kind].label} ${id} ${to}`,
      options: Object.entries(takes).map(([name, preset]) => {
        const field: Field = (resourceOf(kind).fields ?? {})[name]!;
        return flagOf(name, field, `${field.about} (default: ${preset})`);
      }),
      body: (flags: Flags) => membersOf(Object.keys(takes), flags),
    });
  }
  registerList(group, context, resource, { filters: filtersOf(kind), examples: examplesOfList(kind) });
  registerGet(group, context, resource);
  if (updatable) registerUpdate(group, context, kind, resource);
  if (deletable) registerDelete(group, context, resource);
}

function registerCreate(group: Command, context: Context, kind: ObjectKind, resource: Resource<ObjectItem>): void {
  const { view } = resource;
  const create = group.command("create").description(`Create ${withArticle(view.noun)}`);
  for (const [name, field] of inputFieldsOf(kind)) {
    create.addOption(flagOf(name, field, field.about).makeOptionMandatory(field.required ?? false));
  }
  create.addOption(pairsOption("--metadata <key=value>", "Metadata pair, at most 50"));
  addIdempotencyKey(create).action(async (flags: Flags) => {
    const { idempotencyKey } = flags;
    const body = membersOf(Object.keys(RESOURCES[kind].fields), flags);
    await context.output.object(await createObject(context, resource, body, idempotencyKey), view);
  });
  addExamples(addFields(create, view), [
    exampleOfCreate(kind, "text"),
    `${exampleOfCreate(kind, "id")} --metadata plan=pro`,
    `id=$(${exampleOfCreate(kind)} --quiet)`,
  ]);
}

function registerUpdate(group: Command, context: Context, kind: ObjectKind, resource: Resource<ObjectItem>): void {
  const { command, exampleId, view } = resource;
  const fields = inputFieldsOf(kind);
  const update = group
    .command("update")
    .description(`Update ${withArticle(view.noun)}; omitted fields keep their values`)
    .argument("<id>", `ID of the ${view.noun}`, objectId);
  for (const [name, field] of fields) {
    const about = `New ${field.label.toLowerCase()}${field.required ? "" : "; empty removes it"}`;
    update.addOption(flagOf(name, field, about));
  }
  update
    .addOption(pairsOption("--metadata <key=value>", "Metadata pair to set; key= removes a pair"))
    .action(async (id: string, flags: Flags) => {
      const names = fields.map(([name]) => name);
      const changes = membersOf(names, flags);
      for (const [name, { required }] of fields) if (!required && changes[name] === "") changes[name] = null;
      assertChanges(
        changes,
        [...names, "metadata"].map((name) => `--${dashed(name)}`),
      );
      await changeObject(context, resource, { id, changes });
    });
  const changed = fields.find(([, { examples = [] }]) => examples[1] !== undefined);
  addExamples(addDryRun(addFields(update, view)), [
    ...(changed === undefined
      ? []
      : [`service ${command} update ${exampleId} ${exampleFlag(changed[0], changed[1].examples![1]!)}`]),
    `service ${command} update ${exampleId} --metadata plan=pro --metadata trial=`,
  ]);
}

interface Flags extends Record<string, unknown> {
  metadata?: Pair[];
  idempotencyKey?: string;
}

/** Returns the members of a request's body that were given as flags, and the metadata. */
function membersOf(names: readonly string[], flags: Flags): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const name of names) {
    const given = flags[name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (given !== undefined) members[name] = given;
  }
  const { metadata = [] } = flags;
  return metadata.length === 0 ? members : { ...members, metadata: objectOfPairs(metadata, "--metadata") };
}

const PLACEHOLDERS: Readonly<Record<Field["type"], string>> = {
  text: "text",
  email: "address",
  phone: "number",
  amount: "number",
  currency: "code",
  status: "status",
  id: "id",
  code: "code",
};

/** `12.50` is the likeliest mistake. */
const AMOUNT_KIND = "a whole number of the currency's minor unit: 1250 for 12.50 EUR";

function flagOf(name: string, { type }: Field, description: string): Option {
  const option = new Option(`--${dashed(name)} <${PLACEHOLDERS[type]}>`, description);
  if (type === "amount") option.argParser(wholeNumber(0, undefined, AMOUNT_KIND));
  if (type === "currency") option.argParser((text) => text.toUpperCase());
  if (type === "id") option.argParser(objectId);
  return option;
}

function filtersOf(kind: ObjectKind): Option[] {
  const fields = Object.entries<Field>(RESOURCES[kind].fields).filter(([, { filter }]) => filter);
  const statuses = fields.some(([, { type }]) => type === "status")
    ? [new Option("--status <status>", "Filter by status").choices(statusesOf(kind as "order"))]
    : [];
  return [
    ...fields.flatMap(([name, field]) => {
      if (field.type === "status") return [];
      const about = field.type === "email" ? "Filter by email address, ignoring case" : undefined;
      return [flagOf(name, field, about ?? `Filter by ${field.label.toLowerCase()}`)];
    }),
    ...statuses,
    ...searchFilters(),
  ];
}

function examplesOfList(kind: ObjectKind): string[] {
  const { statuses = {}, fields = {} } = resourceOf(kind);
  const list = `service ${RESOURCES[kind].command.name} list`;
  const [status] = Object.keys(statuses);
  return [
    status === undefined ? `${list} --created-after 7d` : `${list} --status ${status} --created-after 1d`,
    ...Object.entries(fields).flatMap(([name, { of, filter }]) => {
      const owner = kindsWith("prefix").find((known) => known === of);
      return filter && owner !== undefined ? [`${list} --${dashed(name)} ${exampleIdOf(owner)}`] : [];
    }),
    `${list} --all --fields id,${Object.keys(fields)[0]},metadata.plan`,
    "amount" in fields ? `${list} --json --jq 'map(.amount) | add'` : `${list} --json --jq '.[].id'`,
  ];
}

/** Returns a `create` with the required flags, and with the optional ones of a type. */
function exampleOfCreate(kind: ObjectKind, optional?: "text" | "id"): string {
  const flags = inputFieldsOf(kind).flatMap(([name, { type, of, required, examples = [] }]) => {
    if (!required && type !== optional) return [];
    const owner = kindsWith("prefix").find((known) => known === of);
    return [exampleFlag(name, owner === undefined ? examples[0]! : exampleIdOf(owner))];
  });
  return ["service", RESOURCES[kind].command.name, "create", ...flags].join(" ");
}

function exampleFlag(name: string, value: string | number): string {
  return `--${dashed(name)} ${/\s/.test(String(value)) ? `'${value}'` : value}`;
}

function dashed(name: string): string {
  return name.replaceAll("_", "-");
}

/** Members of every object that the table of resources describes by its fields. */
interface ObjectItem extends Record<string, unknown> {
  id: string;
  metadata: Record<string, string>;
  livemode: boolean;
  created: string;
}

/** Returns how the command shows a resource: its status first, then its fields in the table's order. */
function objectResource(kind: ObjectKind): Resource<ObjectItem> {
  const fields = Object.entries<Field>(RESOURCES[kind].fields);
  const shown = [
    ...fields.filter(([, { type }]) => type === "status"),
    ...fields.filter(([, { type }]) => type !== "status"),
  ].map(([name, field]) => ({ ...field, column: columnOf(kind, name, field) }));
  return {
    ...locationOf(kind),
    view: {
      ...nounsFor(kind),
      fields: ["id", "object", ...fields.map(([name]) => name), "metadata", "livemode", "created"],
      columns: [
        ID,
        ...shown.flatMap(({ inList, required, type, column }) =>
          inList ? [{ ...column, ...(required || type === "status" ? {} : { optional: true }) }] : [],
        ),
        CREATED,
      ],
      details: [ID, ...shown.map(({ column }) => column), METADATA, ENVIRONMENT, CREATED_AT],
    },
  };
}

function columnOf(kind: ObjectKind, name: string, { type, label }: Field): Column<ObjectItem> {
  if (type === "amount") return AMOUNT as unknown as Column<ObjectItem>;
  if (type === "status") return statusColumn(kind as KindWith<"statuses">) as unknown as Column<ObjectItem>;
  const text = ({ [name]: value }: ObjectItem) => (value ?? "") as string;
  return { label, text, ...(type === "text" || type === "email" ? { shrinks: true } : {}) };
}

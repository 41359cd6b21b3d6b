import { memberNamesOf } from "../../client/response-check.ts";
import {
  exampleOf,
  type Field,
  inputFieldsOf,
  kindsWith,
  type ObjectKind,
  resourceOf,
  RESOURCES,
  shownFieldsOf,
  statusesOf,
} from "../../contract/resources.ts";
import { type CommandDefinition, type Flag, flag } from "../command.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, fieldColumns, ID } from "../resource/columns.ts";
import { createVerb, dashed, exampleFlag, flagOf, type Flags, membersOf, updateVerb } from "../resource/fields.ts";
import { exampleIdOf, type Resource, resourceFor } from "../resource/resource.ts";
import { actionVerb, deleteVerb, getVerb, listVerb, SEARCH_FILTERS } from "../resource/verbs.ts";

/**
 * Returns the command of a resource that is described by its fields in the table of resources, with the verbs that the
 * resource has.
 */
export function objectCommand(kind: ObjectKind): CommandDefinition {
  const { updatable, deletable, actions = {} } = resourceOf(kind);
  const resource = objectResource(kind);
  const { command, exampleId } = resource;
  const [firstAction] = Object.keys(actions);
  return {
    name: command,
    about: RESOURCES[kind].command.summary,
    examples: [
      exampleOfCreate(kind, "text"),
      ...(firstAction === undefined ? [] : [`service ${command} ${firstAction} ${exampleId}`]),
      ...(updatable ? [`service ${command} update ${exampleId} --metadata plan=pro`] : []),
      `service ${command} list --since 7d`,
    ],
    commands: [
      createVerb(kind, resource, {
        examples: [
          exampleOfCreate(kind, "text"),
          `${exampleOfCreate(kind, "id")} --metadata plan=pro`,
          `id=$(${exampleOfCreate(kind)} --quiet) # Store the ID`,
        ],
      }),
      ...Object.entries(actions).map(([verb, { to, about, takes = {} }]) =>
        actionVerb(resource, {
          verb,
          about,
          done: (id) => `${RESOURCES[kind].label} ${id} ${to}`,
          options: Object.entries(takes).map(([name, preset]) => {
            const field: Field = (resourceOf(kind).fields ?? {})[name]!;
            return flagOf(name, field, `${field.about} (default: ${preset})`);
          }),
          body: (flags: Flags, context) => membersOf(kind, flags, context),
        }),
      ),
      listVerb(resource, { filters: filtersOf(kind), examples: examplesOfList(kind) }),
      getVerb(resource),
      ...(updatable
        ? [
            updateVerb(kind, resource, {
              examples: [
                `service ${command} update ${exampleId} --metadata plan=pro --metadata trial= # Set a pair, and remove another`,
              ],
            }),
          ]
        : []),
      ...(deletable ? [deleteVerb(resource)] : []),
    ],
  };
}

function filtersOf(kind: ObjectKind): Flag[] {
  const fields = Object.entries<Field>(RESOURCES[kind].fields).filter(([, { filter }]) => filter);
  const hasStatus = fields.some(([, { type }]) => type === "status");
  const others = fields.filter(([, { type }]) => type !== "status");
  return [
    ...others.map(([name, field]) =>
      flagOf(name, field, `Filter by ${field.label.toLowerCase()}${field.unique ? ", ignoring case" : ""}`),
    ),
    ...(hasStatus ? [flag("--status <status>", "Filter by status", { choices: statusesOf(kind as "order") })] : []),
    ...SEARCH_FILTERS,
  ];
}

function examplesOfList(kind: ObjectKind): string[] {
  const { statuses = {}, fields = {} } = resourceOf(kind);
  const list = `service ${RESOURCES[kind].command.name} list`;
  const [status] = Object.keys(statuses);
  return [
    status === undefined ? `${list} --since 7d` : `${list} --status ${status} --since 1d`,
    ...Object.entries(fields).flatMap(([name, { of, filter }]) => {
      const owner = kindsWith("prefix").find((known) => known === of);
      return filter && owner !== undefined ? [`${list} --${dashed(name)} ${exampleIdOf(owner)}`] : [];
    }),
    `${list} --all --fields id,${Object.keys(fields)[0]},metadata.plan # All of them, with these fields`,
    "amount" in fields
      ? `${list} --json --jq 'map(.amount) | add' # The sum of their amounts`
      : `${list} --json --jq '.[].id' # Only their IDs`,
  ];
}

/** Returns a `create` with the required flags, and with the optional ones of a type. */
function exampleOfCreate(kind: ObjectKind, optional?: "text" | "id"): string {
  const flags = inputFieldsOf(kind).flatMap(([name, field]) => {
    if (!field.required && field.type !== optional) return [];
    const owner = kindsWith("prefix").find((known) => known === field.of);
    return [exampleFlag(name, owner === undefined ? exampleOf(field)! : exampleIdOf(owner))];
  });
  return ["service", RESOURCES[kind].command.name, "create", ...flags].join(" ");
}

/** Members of every object that the table of resources describes by its fields. */
interface ObjectItem extends Record<string, unknown> {
  id: string;
  livemode: boolean;
  created: string;
}

/** Returns how the command shows a resource: its status first, then its fields in the table's order. */
function objectResource(kind: ObjectKind): Resource<ObjectItem> {
  const columns = fieldColumns<ObjectItem>(kind);
  const shown = shownFieldsOf(kind).map(([name, field]) => ({ ...field, column: columns[name]! }));
  return resourceFor<ObjectItem>(kind, {
    fields: memberNamesOf(RESOURCES[kind].label),
    columns: [
      ID,
      ...shown.flatMap(({ inList, required, type, column }) =>
        inList ? [{ ...column, ...(required || type === "status" ? {} : { optional: true }) }] : [],
      ),
      CREATED,
    ],
    details: [ID, ...shown.map(({ column }) => column), ENVIRONMENT, CREATED_AT],
  });
}

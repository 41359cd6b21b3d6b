import { idsOf, isId } from "../../contract/ids.ts";
import type { EventType } from "../../contract/event-types.ts";
import {
  type Field,
  inputFieldsOf,
  lowerFirst,
  nounOf,
  OBJECT_KINDS,
  type ObjectKind,
  resourceOf,
  RESOURCES,
  takenCodeOf,
} from "../../contract/resources.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Queries, SqlValue, Transaction } from "../storage/database.ts";
import { takeTurn } from "../storage/environments.ts";
import { columnOf, fromStored, toStored, valuesOf } from "../storage/field-values.ts";
import {
  deleteObject,
  findByKey,
  findByPrefix,
  findObject,
  insertObject,
  keyColumnOf,
  listObjects,
  listObjectsOf,
  moveObject,
  type ObjectRow,
  updateObject,
} from "../storage/objects.ts";
import type { PageRequest } from "../storage/page.ts";
import { ApiError, assertId, existing, shorten, unknownReference } from "./api-error.ts";
import { emit } from "./events.ts";
import { changedPairs, changeMap, type Pairs } from "./maps.ts";
import type { RequestContext, Tenant } from "./request-context.ts";
import { RULES } from "./rules/index.ts";

interface ApiObject extends Record<string, unknown> {
  id: string;
  created: string;
}

/** A request body that the contract's schema has accepted. */
type Input = Readonly<Record<string, unknown>>;

/**
 * Creates an object in its initial status and emits `<kind>.created`. Throws ApiError `invalid_request` if it refers to
 * an object that does not exist, and the code of `takenCodeOf` if another object has the value of a unique field.
 */
export async function createObject(context: RequestContext, kind: ObjectKind, input: Input) {
  const { tx } = context;
  const { environment } = context.tenant;
  const row: ObjectRow = {
    environment,
    id: context.newId(kind),
    created: context.now,
  };
  const [initial] = Object.keys(resourceOf(kind).statuses ?? {});
  if (initial !== undefined) row["status"] = initial;
  for (const [name, field] of inputFieldsOf(kind)) setField(row, name, field, input[name]);
  await assertReferences(tx, kind, row);
  if (!(await insertObject(tx, kind, row))) {
    await assertUnique(tx, kind, row);
    throw new Error(`${row.id} could not be inserted`);
  }
  await obeyRule(tx, kind, row);
  const object = toObject(kind, row, context.tenant);
  await emit(context, { type: `${kind}.created` as EventType, object });
  return object;
}

/**
 * Changes the given fields, merges maps, and emits `<kind>.updated` with the old values. An update that changes
 * nothing emits nothing. Throws the same errors as `createObject`, and ApiError `not_found`.
 */
export async function updateObjectFields(context: RequestContext, kind: ObjectKind, id: string, input: Input) {
  const { tx, tenant } = context;
  const before = await existingObject(tx, tenant, kind, id);
  const after: ObjectRow = { ...before };
  for (const [name, field] of inputFieldsOf(kind)) {
    const { [name]: value } = input;
    if (value === undefined) continue;
    const isMap = field.type === "map";
    setField(after, name, field, isMap ? changeMap(name, field, mapIn(before, name, field), value as Pairs) : value);
  }
  const object = toObject(kind, after, tenant);
  const previous = changedFields(kind, before, after);
  if (Object.keys(previous).length === 0) return object;
  await assertUnique(tx, kind, after, before);
  await assertReferences(tx, kind, after, before);
  await updateObject(tx, kind, after);
  await obeyRule(tx, kind, after, before);
  await emit(context, { type: `${kind}.updated` as EventType, object, previous });
  return object;
}

/** Deletes an object and emits `<kind>.deleted`. Throws ApiError `not_found`. */
export async function removeObject(context: RequestContext, kind: ObjectKind, id: string) {
  const { tx } = context;
  const row = await existingObject(tx, context.tenant, kind, id);
  await deleteObject(tx, kind, context.tenant.environment, id);
  await emit(context, { type: `${kind}.deleted` as EventType, object: toObject(kind, row, context.tenant) });
  return { id, object: kind, deleted: true as const };
}

/**
 * Moves an object from its initial status to the action's, and emits the event of that status. Throws ApiError
 * `not_found`, and `invalid_transition` if it has a final status already.
 */
export async function actOnObject(
  context: RequestContext,
  kind: ObjectKind,
  { id, verb, input = {} }: { id: string; verb: string; input: Input | undefined },
): Promise<ApiObject> {
  const { tx, tenant } = context;
  const { statuses = {}, actions = {} } = resourceOf(kind);
  const { to, takes = {} } = actions[verb]!;
  const [from] = Object.keys(statuses) as [string];
  assertId(kind, id);
  const set = Object.entries(takes).map(([name, preset]) => [name, (input[name] ?? preset) as SqlValue]);
  const key = { environment: tenant.environment, id };
  const isMoved = await moveObject(tx, kind, key, { from, to, set: Object.fromEntries(set) });
  const row = await existingObject(tx, tenant, kind, id);
  if (!isMoved) {
    throw finalStatus(kind, { id, status: row["status"] as string, to });
  }
  await obeyRule(tx, kind, row, { ...row, status: from });
  const object = toObject(kind, row, tenant);
  await emit(context, { type: `${kind}.${to}` as EventType, object });
  return object;
}

/** Returns the error for an object whose status is final. */
export function finalStatus(kind: ObjectKind, { id, status, to }: Record<"id" | "status" | "to", string>): ApiError {
  const { label, statuses = {} } = resourceOf(kind);
  const [initial] = Object.keys(statuses);
  const detail =
    status === to
      ? `${label} ${id} is already ${status}.`
      : `${label} ${id} is ${status}: only a ${initial} ${nounOf(kind)} can change to ${to}.`;
  return new ApiError("invalid_transition", detail, { members: { current: status } });
}

/** Throws the ApiError of the resource's rule, if it has one that the change breaks. */
async function obeyRule(tx: Transaction, kind: ObjectKind, after: ObjectRow, before?: ObjectRow): Promise<void> {
  const { [kind]: rule } = RULES;
  if (rule === undefined) return;
  await takeTurn(tx, after.environment);
  await rule(tx, after, before);
}

export async function getObject(queries: Queries, tenant: Tenant, kind: ObjectKind, id: string): Promise<ApiObject> {
  return toObject(kind, await existingObject(queries, tenant, kind, id), tenant);
}

/** Returns a page of a list, and one more object if another page follows. `query` holds the filters of the list. */
export async function pageOfObjects(
  queries: Queries,
  tenant: Tenant,
  kind: ObjectKind,
  { page, query }: { page: PageRequest; query: Input },
): Promise<ApiObject[]> {
  const ids = typeof query["query"] === "string" ? idsOf(query["query"]) : [];
  const rows =
    ids.length > 1 && ids.every((id) => isId(kind, id))
      ? await listObjectsOf(queries, kind, page, selected(kind, query), { ids })
      : await listObjects(queries, kind, page, selected(kind, query));
  return rows.map((row) => toObject(kind, row, tenant));
}

/** What a search names: objects by a unique value, such as an email address, or by their IDs, and those that refer to them. */
export interface Named {
  ids: ReadonlySet<string>;
  /** If the search is for a whole value: the newest of these objects, by kind, and their IDs. */
  rows: ReadonlyMap<ObjectKind, readonly ObjectRow[]>;
  wholeIds: readonly string[];
}

/** The shortest text for which objects are looked up whose value begins with it. */
const MIN_NAME = 3;
/** Maximum number of objects whose value begins with a text, and of those that refer to them, of each kind. */
const MAX_NAMED = 10;
const MAX_REFERRING = 50;
const MAX_REFERRING_TO_SEVERAL = 200;

/** Finds what a search names with indexes: the object with a unique value, or those whose value begins with the text. */
export async function findNamed(queries: Queries, { environment }: Pick<Tenant, "environment">, text = "") {
  const prefix = keyOf(text.trim());
  const found = new Map<ObjectKind, ObjectRow[]>();
  const given = idsOf(text);
  let isWhole = false;
  for (const kind of prefix.length < MIN_NAME || given.length === 1 ? [] : OBJECT_KINDS) {
    for (const [name] of given.length > 0 ? [] : uniqueFields(kind)) {
      const rows = await findByPrefix(queries, kind, environment, { name, prefix, limit: MAX_NAMED });
      const whole = rows.filter((row) => row[keyColumnOf(name)] === prefix);
      isWhole ||= whole.length > 0;
      found.set(kind, whole.length > 0 ? whole : rows);
    }
    for (const [name, field] of Object.entries<Field>(RESOURCES[kind].fields)) {
      const { of, filter } = field;
      const owners = given.filter((id) => of !== undefined && isId(of as ObjectKind, id));
      const ids = [...owners, ...(found.get(of as ObjectKind)?.map(({ id }) => id) ?? [])];
      if (filter !== true || ids.length === 0) continue;
      const page = { environment, limit: given.length > 0 ? MAX_REFERRING_TO_SEVERAL : MAX_REFERRING };
      const some = ids.slice(0, page.limit);
      found.set(kind, await listObjectsOf(queries, kind, page, {}, { column: columnOf(name, field), ids: some }));
    }
  }
  const ids = [...found.values()].flat().map(({ id }) => id);
  return { ids: new Set(ids), ...(isWhole ? { rows: found, wholeIds: ids } : { rows: new Map(), wholeIds: [] }) };
}

/** Returns the objects of a list that a search names as a whole, newest first, however old they are. */
export function namedObjects(
  { rows }: Named,
  tenant: Tenant,
  kind: ObjectKind,
  { page: { from = "", before = "~", limit }, query }: { page: PageRequest; query: Input },
): ApiObject[] {
  const wanted = Object.entries(selected(kind, query));
  const shown = (rows.get(kind) ?? []).filter(
    (row) => row.id >= from && row.id < before && wanted.every(([column, value]) => row[column] === value),
  );
  return shown.slice(0, limit).map((row) => toObject(kind, row, tenant));
}

/** Returns the filters of a list by column. */
function selected(kind: ObjectKind, query: Input): Record<string, SqlValue> {
  const filters = Object.entries<Field>(RESOURCES[kind].fields).flatMap(([name, field]) => {
    const value = query[name] as string | undefined;
    if (!field.filter || value === undefined) return [];
    return [field.unique ? [keyColumnOf(name), keyOf(value)] : [columnOf(name, field), value]];
  });
  return Object.fromEntries(filters) as Record<string, SqlValue>;
}

function existingObject(queries: Queries, tenant: Tenant, kind: ObjectKind, id: string): Promise<ObjectRow> {
  return existing(kind, id, () => findObject(queries, kind, tenant.environment, id));
}

function setField(row: ObjectRow, name: string, field: Field, value: unknown): void {
  row[columnOf(name, field)] = toStored(field.type, value);
  if (field.unique) row[keyColumnOf(name)] = keyOf((value ?? null) as string | null);
}

function toObject(kind: ObjectKind, row: ObjectRow, tenant: Tenant): ApiObject {
  return {
    id: row.id,
    object: kind,
    ...valuesOf(kind, row),
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
  };
}

/** Returns the old values of the fields whose value changed; of a map, the old value of each changed key. */
function changedFields(kind: ObjectKind, before: ObjectRow, after: ObjectRow): Record<string, unknown> {
  const previous: Record<string, unknown> = {};
  for (const [name, field] of inputFieldsOf(kind)) {
    const column = columnOf(name, field);
    if (before[column] === after[column]) continue;
    previous[name] =
      field.type === "map"
        ? changedPairs(mapIn(before, name, field), mapIn(after, name, field))
        : fromStored(field.type, before[column]);
  }
  return previous;
}

/**
 * Throws ApiError `invalid_request` if the row refers to an object that does not exist. Unchanged references of
 * `before` are not checked again.
 */
async function assertReferences(tx: Transaction, kind: ObjectKind, row: ObjectRow, before?: ObjectRow): Promise<void> {
  for (const [name, field] of inputFieldsOf(kind)) {
    const column = columnOf(name, field);
    const id = row[column] as string | null;
    if (field.type !== "id" || id === null || id === before?.[column]) continue;
    const owner = field.of as ObjectKind;
    if ((await findObject(tx, owner, row.environment, id)) === undefined) {
      throw unknownReference(name, nounOf(owner), id);
    }
  }
}

function uniqueFields(kind: ObjectKind): [name: string, field: Field][] {
  return inputFieldsOf(kind).filter(([, { unique }]) => unique);
}

/** Throws the ApiError with the ID of another object that has the row's value of a unique field. */
async function assertUnique(tx: Transaction, kind: ObjectKind, row: ObjectRow, before?: ObjectRow): Promise<void> {
  for (const [name, field] of uniqueFields(kind)) {
    const key = row[keyColumnOf(name)] as string | null;
    if (key === null || key === before?.[keyColumnOf(name)]) continue;
    const holder = await findByKey(tx, kind, row.environment, name, key);
    if (holder === undefined) continue;
    const [noun, label] = [nounOf(kind), lowerFirst(field.label)];
    const value = shorten(row[columnOf(name, field)] as string);
    throw new ApiError(takenCodeOf(field), `The ${label} ${value} belongs to ${noun} ${holder.id}.`, {
      members: {
        existing: holder.id,
        errors: [{ pointer: `/${name}`, code: "taken", detail: `another ${noun} has this ${label}` }],
      },
    });
  }
}

function keyOf<Text extends string | null>(value: Text): Text {
  return (value?.toLowerCase() ?? null) as Text;
}

function mapIn(row: ObjectRow, name: string, field: Field): Pairs {
  return fromStored(field.type, row[columnOf(name, field)]) as Pairs;
}

import { type TOptional, type TSchema, type TUnsafe, Type } from "typebox";
import { type FIELD_TYPES, type FieldTypeName, itemTypeOf, typeOf } from "../field-types.ts";
import type { IdKind } from "../ids.ts";
import {
  choicesOf,
  type Field,
  inputFieldsOf,
  type KindWith,
  resourceOf,
  type RESOURCES,
  type StatusOf,
} from "../resources.ts";
import { type Scope, SCOPES } from "../scopes.ts";
import { idOf, nullable } from "./fields.ts";

/** Schemas of the fields in the table of resources, and the types of their values. */

type Kind = KindWith<"fields">;
type Apart = {
  [Type in FieldTypeName]: (typeof FIELD_TYPES)[Type]["stored"] extends "apart" ? Type : never;
}[FieldTypeName];
type Whole = {
  [Type in FieldTypeName]: (typeof FIELD_TYPES)[Type]["stored"] extends "integer" ? Type : never;
}[FieldTypeName];
export type Fields<Of extends Kind> = (typeof RESOURCES)[Of]["fields"];
export type NameOf<Of extends Kind> = {
  [Name in keyof Fields<Of>]: Fields<Of>[Name] extends { type: Apart } ? never : Name;
}[keyof Fields<Of>];
export type InputOf<Of extends Kind> = {
  [Name in NameOf<Of>]: Fields<Of>[Name] extends { type: "status" } | { output: true } ? never : Name;
}[NameOf<Of>];
type RequiredOf<Of extends Kind> = {
  [Name in InputOf<Of>]: Fields<Of>[Name] extends { required: true } ? Name : never;
}[InputOf<Of>];
type ChangeableOf<Of extends Kind> = {
  [Name in InputOf<Of>]: Fields<Of>[Name] extends { fixed: true } ? never : Name;
}[InputOf<Of>];

export type ValueOf<Of extends Kind, Name extends NameOf<Of>> =
  | PlainValueOf<Of, Fields<Of>[Name]>
  | (Fields<Of>[Name] extends { required: true } | { type: "status" | "boolean" | "list" } ? never : null);

type PlainValueOf<Of extends Kind, One> = One extends { type: "status" }
  ? Of extends KindWith<"statuses">
    ? StatusOf<Of>
    : never
  : One extends { of: "scope" }
    ? Scope[]
    : One extends { type: "list" }
      ? string[]
      : One extends { type: "boolean" }
        ? boolean
        : One extends { type: Whole }
          ? number
          : string;

/** Returns the schema of each field in responses. */
export function valueSchemas<Of extends Kind>(kind: Of): { [Name in NameOf<Of>]: TUnsafe<ValueOf<Of, Name>> } {
  const { fields = {} } = resourceOf(kind);
  return mapped(Object.entries(fields), (field) => orNull(field, valueSchema(kind, field))) as never;
}

/** Returns the schemas of a request that creates an object. */
export function createSchemas<Of extends Kind>(
  kind: Of,
): { [Name in RequiredOf<Of>]: TUnsafe<ValueOf<Of, Name>> } & {
  [Name in Exclude<InputOf<Of>, RequiredOf<Of>>]: TOptional<TUnsafe<ValueOf<Of, Name>>>;
} {
  return mapped(inputFieldsOf(kind), (field) => {
    const schema = orNull(field, inputSchema(kind, field));
    return field.required ? schema : Type.Optional(schema);
  }) as never;
}

/** Returns the schemas of a request that changes an object. */
export function updateSchemas<Of extends Kind>(
  kind: Of,
): { [Name in ChangeableOf<Of>]: TOptional<TUnsafe<ValueOf<Of, Name>>> } {
  const changeable = inputFieldsOf(kind).filter(([, { fixed }]) => !fixed);
  return mapped(changeable, (field) => Type.Optional(orNull(field, inputSchema(kind, field)))) as never;
}

/** Returns the schema of a field's value in responses. */
export function valueSchema(kind: Kind, field: Field): TSchema {
  return schemaOf(kind, field, "response", {});
}

/** Returns the schema of a field's value in requests, which has limits. */
export function inputSchema(kind: Kind, field: Field): TSchema {
  const { type, min, max } = field;
  const range = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
  return schemaOf(kind, field, "request", { ...typeOf(type).limits, ...range });
}

function schemaOf(kind: Kind, field: Field, side: "request" | "response", limits: object = {}): TSchema {
  const { type, about, described, of = "", examples } = field;
  const stated = described?.[side] ?? described?.both;
  const description = stated ?? ("custom" in resourceOf(kind) ? undefined : about);
  const options = {
    ...(description && { description }),
    ...(examples && { examples: examples.slice(0, 1) }),
    ...limits,
  };
  if (type === "id") return idOf(of as IdKind, description, options);
  if (type === "list") return listSchema(of, side, { ...(description && { description }) });
  const choices = choicesOf(kind, field);
  return Type.Unsafe({ ...typeOf(type).schema, ...(choices && { enum: choices }), ...options });
}

function listSchema(of: string, side: "request" | "response", described: { description?: string }): TSchema {
  const { schema, itemLimits, limits } = itemTypeOf(of);
  const item = { ...schema, ...(of === "scope" && { enum: SCOPES }) };
  if (side === "response") return Type.Array(Type.Unsafe(item), described);
  const all = of === "scope" ? { ...limits, maxItems: SCOPES.length } : limits;
  return Type.Array(Type.Unsafe({ ...item, ...itemLimits }), { ...all, ...described });
}

/** A list or a boolean has a value always. */
function orNull({ type, required }: Field, schema: TSchema): TSchema {
  return required || ["status", "boolean", "list"].includes(type) ? schema : nullable(schema);
}

function mapped(
  fields: readonly (readonly [name: string, field: Field])[],
  schemaOf: (field: Field) => TSchema,
): Record<string, TSchema> {
  const own = fields.filter(([, { type }]) => typeOf(type).stored !== "apart");
  return Object.fromEntries(own.map(([name, field]) => [name, schemaOf(field)]));
}

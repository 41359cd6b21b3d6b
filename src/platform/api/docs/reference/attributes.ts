import { html, type Html } from "../../../http/pages/html.ts";
import { inline } from "../site.ts";
import type { Documents, ParameterObject, Schema } from "./document.ts";

/** How deep attributes of attributes are shown. */
const MAX_DEPTH = 4;

/** Renders the parameters of one location: path, query or headers. */
export function parameters(documents: Documents, list: readonly ParameterObject[]): Html {
  return html`<ul class="attributes">
    ${list.map(({ name, schema, description, required }) =>
      entry(documents, { name, schema: { ...schema, ...(description !== undefined && { description }) }, required }),
    )}
  </ul>`;
}

/** Renders the attributes of an object, with the attributes of nested objects collapsed below them. */
export function attributes(documents: Documents, schema: Schema, showsRequired: boolean, depth = 0): Html {
  return html`<ul class="attributes">
    ${Object.entries(schema.properties ?? {}).map(([name, property]) =>
      entry(documents, {
        name,
        schema: documents.schema(property),
        required: showsRequired && (schema.required ?? []).includes(name),
        showsRequired,
        depth,
      }),
    )}
  </ul>`;
}

interface Entry {
  name: string;
  schema: Schema;
  required?: boolean | undefined;
  showsRequired?: boolean;
  depth?: number;
}

function entry(documents: Documents, { name, schema, required, showsRequired = false, depth = 0 }: Entry): Html {
  const nested = nestedSchema(documents, schema);
  const { description } = [schema, ...inlineOptions(schema)].find((one) => one.description !== undefined) ?? {};
  return html`<li>
    <p class="attribute">
      <code class="name">${name}</code> <span class="type">${typeOf(documents, schema)}</span>
      ${required === true && html`<span class="required">Required</span>`}
    </p>
    ${description !== undefined && html`<p>${inline(description)}</p>`} ${facts(schema)}
    ${
      nested !== undefined &&
      depth < MAX_DEPTH &&
      html`<details>
        <summary>Attributes of <code>${name}</code></summary>
        ${attributes(documents, nested, showsRequired, depth + 1)}
      </details>`
    }
  </li>`;
}

/** Returns the object that an attribute contains, itself or as the items of its array. */
function nestedSchema(documents: Documents, schema: Schema): Schema | undefined {
  const inner = schema.items === undefined ? schema : documents.schema(schema.items);
  return inner.properties === undefined ? undefined : inner;
}

function typeOf(documents: Documents, schema: Schema): string {
  const types = typesOf(documents, schema);
  const named = types.filter((type) => type !== "null").map((type) => nameOf(documents, type, schema));
  return [...named, ...(types.includes("null") ? ["null"] : [])].join(" or ");
}

/** Returns the types of a schema, or of its options; an enumeration has that of its values. */
function typesOf(documents: Documents, { type, anyOf, enum: [value] = [] }: Schema): string[] {
  if (type !== undefined) return [type].flat();
  if (anyOf !== undefined) return [...new Set(anyOf.flatMap((option) => typesOf(documents, documents.schema(option))))];
  if (value === undefined) return ["any"];
  return [typeof value === "number" ? "integer" : "string"];
}

function nameOf(documents: Documents, type: string, { items, additionalProperties, format }: Schema): string {
  if (format === "date-time") return format;
  if (type === "array" && items !== undefined) return `array of ${typeOf(documents, documents.schema(items))}s`;
  if (type === "object" && typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0) {
    return `map of ${typeOf(documents, documents.schema(additionalProperties))}s`;
  }
  return type;
}

/** Renders the allowed values, the default and the limits of a schema. */
function facts(schema: Schema): Html | false {
  const lines = [
    values(schema).length === 1 && html`Always ${codes(values(schema))}`,
    schema.default !== undefined && html`Default: ${codes([schema.default])}`,
    rangeOf(schema),
    // May end with a box.
    values(schema).length > 1 && choices(values(schema)),
  ].filter((line) => line !== false);
  return lines.length > 0 && html`<div class="facts">${lines.map((line, at) => html`${at > 0 && " · "}${line}`)}</div>`;
}

/** More values than this are folded: the currencies, for example. */
const MAX_CHOICES = 12;

function choices(list: readonly unknown[]): Html {
  if (list.length <= MAX_CHOICES) return html`One of ${codes(list)}`;
  return html`One of ${codes(list.slice(0, 3))} …
    <details>
      <summary>All ${list.length} values</summary>
      ${codes(list)}
    </details>`;
}

/** The values that a schema allows, or the items of its array. */
function values(schema: Schema): readonly unknown[] {
  if (schema.items !== undefined && !("$ref" in schema.items)) return values(schema.items);
  if (schema.const !== undefined) return [schema.const];
  return schema.enum ?? inlineOptions(schema).flatMap(values);
}

function inlineOptions({ anyOf = [] }: Schema): Schema[] {
  return anyOf.filter((option): option is Schema => !("$ref" in option));
}

function codes(list: readonly unknown[]): Html[] {
  return list.map((value, at) => html`${at > 0 && ", "}<code>${String(value)}</code>`);
}

function rangeOf(schema: Schema): string | false {
  // Readers need not know the largest number that JSON can carry.
  const maximum = schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum;
  const range = (min: number | undefined, max: number | undefined, unit: string) => {
    if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
    if (max !== undefined) return `At most ${max}${unit}`;
    return min !== undefined && min > 0 && `At least ${min}${unit}`;
  };
  return (
    range(schema.minimum, maximum, "") ||
    range(schema.minLength, schema.maxLength, " characters") ||
    range(schema.minItems, schema.maxItems, " items")
  );
}

import type { Document, Schema } from "./document.ts";
import type { Pool } from "./pool.ts";
import type { Seeded } from "./seeded.ts";

/** Letters that every text field should accept. */
const LETTERS = Array.from("abcdefghij XYZ0123456789.,;:'\"\\/<>&%{}[]()äöüßñçéøłžŸ中文字かな한글אבגعرب🙂🚀");
const KEY_LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz0123456789_-.");

/** Creates values that match a schema of the document. */
export class ValidValues {
  private readonly document: Document;
  private readonly pool: Pool;
  private readonly seeded: Seeded;
  /** Replaces the hosts of example URLs, so that no request leaves the machine. */
  private readonly receiver: string;

  constructor(document: Document, pool: Pool, seeded: Seeded, receiver: string) {
    this.document = document;
    this.pool = pool;
    this.seeded = seeded;
    this.receiver = receiver;
  }

  of(reference: Schema): unknown {
    const { seeded } = this;
    const schema = this.document.resolve<Schema>(reference);
    const types = [schema.type ?? []].flat();
    if (schema.anyOf !== undefined) return this.of(seeded.pick(schema.anyOf));
    if ("const" in schema) return schema.const;
    if (schema.enum !== undefined) return seeded.pick(schema.enum);
    if (types.includes("null") && (types.length === 1 || seeded.chance(0.15))) return null;
    switch (types[0]) {
      case "string":
        return this.text(schema);
      case "integer":
      case "number":
        return this.number(schema);
      case "boolean":
        return seeded.chance(0.5);
      case "array":
        return this.array(schema);
      case "object":
        return this.object(schema);
      default:
        return seeded.pick<unknown>([null, true, 0, -1.5, "text", [], {}, { a: [1, { b: "c" }] }]);
    }
  }

  private text({ pattern, examples, format, minLength = 0, maxLength = 200 }: Schema): string {
    const { seeded } = this;
    const id = pattern === undefined ? undefined : this.pool.pick(pattern, seeded);
    if (id !== undefined) return id;
    const [example] = (examples ?? []) as string[];
    if (format === "email") return seeded.text(seeded.integer(1, 2), KEY_LETTERS.slice(0, 26)) + `@example.com`;
    if (format === "date-time") return this.time();
    if (example?.startsWith("https://")) {
      return `${this.receiver}/${seeded.text(seeded.integer(0, 6), KEY_LETTERS.slice(0, 26))}`;
    }
    if (example !== undefined && (pattern !== undefined || minLength === 0 || seeded.chance(0.3))) return example;
    const length = seeded.chance(0.1) ? maxLength : seeded.integer(minLength, Math.min(maxLength, minLength + 20));
    return seeded.text(length, LETTERS);
  }

  private time(): string {
    const seconds = this.seeded.integer(Date.UTC(2020, 0) / 1000, Date.UTC(2500, 0) / 1000);
    return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  }

  private number({ minimum = -1000, maximum = 1000 }: Schema): number {
    const { seeded } = this;
    if (seeded.chance(0.1)) return seeded.pick([minimum, maximum]);
    return seeded.integer(minimum, Math.min(maximum, minimum + 10 ** seeded.integer(1, 6)));
  }

  private array({ items = {}, minItems = 0, maxItems = 5 }: Schema): unknown[] {
    const length = this.seeded.integer(minItems, Math.min(maxItems, minItems + 3));
    const values = Array.from({ length }, () => this.of(items));
    const texts = values.map((value) => JSON.stringify(value));
    return values.filter((_, index) => texts.indexOf(texts[index]!) === index);
  }

  /** Gives an object the values of those it refers to: rules may require the same currency, or no higher amount. */
  private agreeWithReferences(object: Record<string, unknown>): void {
    for (const id of Object.values(object)) {
      const referred = this.pool.objectOf(id) ?? {};
      for (const name of ["amount", "currency"]) if (name in object && name in referred) object[name] = referred[name];
    }
  }

  private object({ properties = {}, required = [], additionalProperties, propertyNames, maxProperties }: Schema) {
    const { seeded } = this;
    const object: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      if (required.includes(name) || seeded.chance(0.6)) object[name] = this.of(schema);
    }
    if (seeded.chance(0.5)) this.agreeWithReferences(object);
    if (typeof additionalProperties === "object") {
      const count = maxProperties !== undefined && seeded.chance(0.05) ? maxProperties : seeded.integer(0, 3);
      const max = Number(/\{1,(\d+)\}/.exec(propertyNames?.pattern ?? "")?.[1] ?? 20);
      for (let index = 0; index < count; index++) {
        const length = seeded.chance(0.1) ? max - 2 : seeded.integer(1, Math.min(12, max - 2));
        object[seeded.text(length, KEY_LETTERS) + index] = this.of(additionalProperties);
      }
    }
    return object;
  }
}

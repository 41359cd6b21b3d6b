import type { Document, Schema } from "./document.ts";
import type { Seeded } from "./seeded.ts";

/** Text that careless programs mishandle. */
export const HOSTILE_TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e\u200b\ufeff",
  "'; DROP TABLE customers; --",
  '" OR 1=1 --',
  "%00%0a%0d",
  "../../../../etc/passwd",
  "<script>alert(1)</script>",
  "${7*7}{{7*7}}",
  "__proto__",
  "constructor",
  "NaN",
  "null",
  "-1",
  "1e999",
  "🙂".repeat(300),
  "e\u0301".repeat(600),
  "a".repeat(10_000),
  "\r\nSet-Cookie: a=b",
];

const OTHER_TYPES: unknown[] = [null, true, 0, -1, 1.5, 2 ** 53, "", "text", [], [null], {}, { a: 1 }];

/** Changes one part of a valid body, so that it probably violates its schema. */
export function breakBody(body: unknown, reference: Schema, document: Document, seeded: Seeded): unknown {
  const schema = document.resolve<Schema>(reference);
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties);
  const object = { ...(body as Record<string, unknown>) };
  const name = names.length === 0 ? undefined : seeded.pick(names);
  switch (seeded.integer(0, 5)) {
    case 0:
      return seeded.pick(
        OTHER_TYPES.filter((value) => typeof value !== "object" || value === null || Array.isArray(value)),
      );
    case 1:
      return { ...object, [seeded.pick(["unknown", "Email", "id", "livemode", "constructor", "toString", ""])]: 1 };
    case 2:
      if (required.length > 0) delete object[seeded.pick(required)];
      return object;
    default:
      return name === undefined
        ? seeded.pick(OTHER_TYPES)
        : { ...object, [name]: breakValue(object[name], properties[name]!, document, seeded) };
  }
}

function breakValue(value: unknown, reference: Schema, document: Document, seeded: Seeded): unknown {
  const schema = document.resolve<Schema>(reference);
  const types = new Set([schema.type ?? []].flat());
  const candidates: unknown[] = [...OTHER_TYPES, ...HOSTILE_TEXTS];
  const { minimum, maximum, maxLength, minLength, maxItems, maxProperties } = schema;
  if (minimum !== undefined) candidates.push(minimum - 1, minimum + 0.5, String(minimum));
  if (maximum !== undefined) candidates.push(maximum + 1, maximum * 10, 1e308);
  if (maxLength !== undefined) {
    candidates.push("x".repeat(maxLength + 1), "🙂".repeat(maxLength + 1), "🙂".repeat(maxLength));
    // Few visible characters, but many code points.
    candidates.push("e\u0301".repeat(maxLength), `a${"\u0301".repeat(maxLength)}`);
  }
  if (minLength !== undefined && minLength > 0) candidates.push("x".repeat(minLength - 1));
  if (maxItems !== undefined) candidates.push(Array.from({ length: maxItems + 1 }, (_, index) => `item${index}`));
  if (types.has("array") && Array.isArray(value) && value.length > 0) {
    candidates.push([...value, value[0]], [...value, seeded.pick(HOSTILE_TEXTS)], [...value, null]);
  }
  if (types.has("object")) {
    const many = Array.from({ length: (maxProperties ?? 50) + 1 }, (_, index) => [`key${index}`, "value"]);
    candidates.push(
      Object.fromEntries(many),
      { ["k".repeat(41)]: "v" },
      { k: "v".repeat(501) },
      { k: 1 },
      { k: { l: {} } },
    );
    candidates.push({ [seeded.pick(HOSTILE_TEXTS)]: seeded.pick(HOSTILE_TEXTS) });
  }
  return seeded.chance(0.5)
    ? (seeded.pick(candidates.slice(OTHER_TYPES.length + HOSTILE_TEXTS.length)) ?? seeded.pick(candidates))
    : seeded.pick(candidates);
}

/** Bodies with invalid JSON, derived from a valid one. */
export function breakJson(json: string, seeded: Seeded): Buffer {
  const texts = [
    json.slice(0, -1),
    `${json},`,
    `${json}${json}`,
    `\ufeff${json}`,
    json.replaceAll('"', "'") === json ? "{'a':1}" : json.replaceAll('"', "'"),
    '{"a":1,"a":2}',
    '{"__proto__":{}}',
    '{"a":01}',
    '{"a":1e999}',
    '{"a":12345678901234567890}',
    '{"a":NaN}',
    '{"a":"\\ud800"}',
    '{"a":"\\u0000"}',
    '{"a":"\n"}',
    '{"a":1,}',
    "{",
    " ",
    "nul",
    "[".repeat(100) + "]".repeat(100),
    `${'{"a":'.repeat(40)}1${"}".repeat(40)}`,
  ];
  const chosen = seeded.integer(0, texts.length);
  return chosen === texts.length
    ? Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])
    : Buffer.from(texts[chosen]!);
}

import type { TSchema } from "typebox";
import { describe, expect, it } from "vitest";
import { Delivery, DeliveryList } from "../../src/contract/schemas/delivery.ts";
import { OBJECT_SCHEMAS } from "../../src/contract/schemas/objects.ts";
import { DeletedUser } from "../../src/contract/schemas/account.ts";
import { Event } from "../../src/contract/schemas/event.ts";
import { Problem } from "../../src/contract/schemas/problem.ts";
import { Statistics } from "../../src/contract/schemas/statistics.ts";
import { declaredFields } from "../../src/platform/http/declared-fields.ts";
import { exampleResponse } from "../../src/platform/api/openapi/examples.ts";

const { object: Customer, list: CustomerList } = OBJECT_SCHEMAS.customer;

const SCHEMAS: Record<string, TSchema> = {
  Customer,
  CustomerList,
  Delivery,
  DeliveryList,
  DeletedUser,
  Problem,
  Statistics,
};

const FREE_FORM: ReadonlySet<string> = new Set(["metadata", "request_headers", "response_headers"]);

/** Returns a value with a secret in each of its objects, except those with free-form fields. */
function withSecrets(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withSecrets(item));
  if (typeof value !== "object" || value === null || FREE_FORM.has(name)) return value;
  const parts = Object.entries(value).map(([key, part]) => [key, withSecrets(part, key)] as const);
  return { secret: "hidden", ...Object.fromEntries(parts), password: "hidden" };
}

describe("a response", () => {
  it.each(Object.entries(SCHEMAS))(
    "omits fields that the schema of %s does not declare, at any depth",
    (_name, schema) => {
      const example = exampleResponse(schema);
      const leaking = withSecrets(example);
      expect(JSON.stringify(leaking)).toContain("hidden");
      expect(JSON.stringify(declaredFields(schema)(leaking))).toBe(JSON.stringify(example));
    },
  );

  it("is unchanged if all fields are declared", () => {
    const example = exampleResponse(CustomerList);
    expect(declaredFields(CustomerList)(example)).toBe(example);
  });

  it("keeps every key of metadata and of an event's object", () => {
    const customer = { ...(exampleResponse(Customer) as object), metadata: { password: "theirs" } };
    expect(declaredFields(Customer)(customer)).toEqual(customer);
    const event = { ...(exampleResponse(Event) as object), data: { object: { anything: { deep: 1 } } } };
    expect(declaredFields(Event)(event)).toEqual(event);
  });

  it("keeps null where an object may be missing", () => {
    const delivery = { ...(exampleResponse(Delivery) as object), endpoint: null };
    expect(declaredFields(Delivery)(delivery)).toEqual(delivery);
  });
});

it("the example of statistics adds up", () => {
  const { totals, minutes, failures, endpoints } = exampleResponse(Statistics) as Statistics;
  expect(minutes).toEqual([expect.objectContaining(totals)]);
  expect(totals.attempts).toBe(totals.succeeded + totals.failed);
  expect(failures.map(({ count }) => count)).toEqual([totals.failed]);
  expect(endpoints[0]).toMatchObject({ attempts: totals.attempts, failed: totals.failed });
  // Without a successful attempt.
  expect([totals.succeeded, endpoints[0]?.last_success_at]).toEqual([0, null]);
});

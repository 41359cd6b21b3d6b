import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../src/contract/event-types.ts";
import { sign, verify } from "../../src/webhooks/index.ts";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import type * as testing from "../../src/testing/index.ts";
import { BUILT } from "./kit.ts";

const { event } = (await import(BUILT)) as typeof testing;
const on = apiOnPlatform();

describe("event", () => {
  it.each(EVENT_TYPES)("creates a %s that matches the OpenAPI schema", async (type) => {
    const document = (await (await fetch(`${on.platform.baseUrl}/openapi.json`)).json()) as object;
    const ajv = new Ajv2020({ strict: false });
    ajvFormats.default(ajv);
    ajv.addSchema(document, "document");
    const pointer = `document#/webhooks/${type}/post/requestBody/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: pointer });
    expect(validate(event(type)), ajv.errorsText(validate.errors)).toBe(true);
  });

  it("has the given fields and details, and its own IDs", () => {
    const first = event("order.completed", { amount: 500 });
    expect(first.data.object).toMatchObject({ object: "order", status: "completed", amount: 500, currency: "EUR" });
    const second = event("order.completed", {}, { livemode: true, created: "2026-11-01T12:00:00Z" });
    expect(second).toMatchObject({ livemode: true, created: "2026-11-01T12:00:00Z" });
    expect(new Set([first, second].flatMap(({ id, data }) => [id, data.object.id])).size).toBe(4);
    const updated = event("customer.updated", { email: "new@example.com" }, { previous: { email: "old@example.com" } });
    expect(updated.data.previous).toEqual({ email: "old@example.com" });
  });

  it("can be signed like a delivery", () => {
    const payload = JSON.stringify(event("payment.failed", { failure_code: "card_declined" }));
    const header = sign({ payload, secrets: "whsec_test" });
    expect(verify({ payload, header, secrets: "whsec_test" })).toEqual(JSON.parse(payload));
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { type ApiDocument, breakingChanges, promisesOf } from "./support/promises.ts";

/** The contract of the last release. To replace it for a release, run this file with NEW_RELEASE=1. */
const BASELINE = new URL("support/promises-of-last-release.txt", import.meta.url);

const on = apiOnPlatform();

let served: ApiDocument;
beforeAll(async () => {
  served = (await (await fetch(`${on.platform.baseUrl}/openapi.json`)).json()) as ApiDocument;
  if (process.env["NEW_RELEASE"] === "1") writeFileSync(BASELINE, `${promisesOf(served).join("\n")}\n`);
});

it("the API breaks no client of the last release", () => {
  const released = readFileSync(BASELINE, "utf8").trimEnd().split("\n");
  expect(released.length).toBeGreaterThan(500);
  expect(breakingChanges(released, promisesOf(served))).toEqual([]);
});

describe("the comparison with the last release", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests change any part of the document
  const changesAfter = (change: (document: any) => void): string[] => {
    const changed = structuredClone(served);
    change(changed);
    return breakingChanges(promisesOf(served), promisesOf(changed));
  };

  it("finds a removed path", () => {
    const found = changesAfter(({ paths }) => delete paths["/v1/orders/{id}"]);
    expect(found).toContain("no longer: GET /v1/orders/{id} 200 application/json: Order");
  });

  it("finds a removed operation", () => {
    const found = changesAfter(({ paths }) => delete paths["/v1/customers/{id}"].delete);
    expect(found).toContain("no longer: DELETE /v1/customers/{id} request accepts object");
    expect(found.every((line) => !line.includes("GET"))).toBe(true);
  });

  it("finds a removed parameter", () => {
    const found = changesAfter(({ paths }) => paths["/v1/customers"].get.parameters.splice(0, 1));
    expect(found).toContain("no longer: GET /v1/customers request.query limit optional");
  });

  it("finds a removed field of a request", () => {
    const found = changesAfter(({ components }) => delete components.schemas.CustomerCreate.properties.phone);
    expect(found).toContain("no longer: sent CustomerCreate.phone optional");
  });

  it("finds a removed field of a response, and one that became optional", () => {
    const removed = changesAfter(({ components }) => delete components.schemas.Order.properties.amount);
    expect(removed).toContain("no longer: received Order.amount is integer");
    const optional = changesAfter(({ components }) => components.schemas.Order.required.splice(0, 1));
    expect(optional).toEqual(["no longer: received Order.id always"]);
  });

  it("finds a removed value", () => {
    let removed: string | undefined;
    const found = changesAfter(({ components }) => {
      removed = components.schemas.Order.properties.status.enum.pop();
    });
    expect(found).toEqual([`no longer: received Order.status may be "${removed}"`]);
  });

  it("finds a field that became required in a request", () => {
    const added = changesAfter(({ components: { schemas } }) => {
      schemas.CustomerCreate.properties.an_addition = { type: "string" };
      schemas.CustomerCreate.required.push("an_addition");
    });
    expect(added).toEqual(["newly: sent CustomerCreate.an_addition required"]);
    const known = changesAfter(({ components }) => components.schemas.CustomerCreate.required.push("name"));
    expect(known).toContain("newly: sent CustomerCreate.name required");
  });

  it("finds a parameter that became required", () => {
    const found = changesAfter(({ paths }) => {
      paths["/v1/orders"].get.parameters.push({
        name: "year",
        in: "query",
        required: true,
        schema: { type: "integer" },
      });
    });
    expect(found).toEqual(["newly: GET /v1/orders request.query year required"]);
  });

  it("finds a type removed from a request, and a type added to a response", () => {
    const sent = changesAfter(({ components }) => (components.schemas.OrderCreate.properties.amount.type = "string"));
    expect(sent).toEqual(["no longer: sent OrderCreate.amount accepts integer"]);
    const received = changesAfter(({ components }) => {
      components.schemas.Order.properties.amount.type = ["integer", "null"];
    });
    expect(received).toEqual(["no longer: received Order.amount is integer"]);
  });

  it("finds another required scope", () => {
    const found = changesAfter(({ paths }) => (paths["/v1/orders"].get.security[0].apiKey = ["orders:write"]));
    expect(found).toEqual(["no longer: GET /v1/orders allows apiKey orders:read"]);
  });

  it("finds an event type that is no longer sent", () => {
    const found = changesAfter(({ webhooks }) => delete webhooks["order.completed"]);
    expect(found).toContain("no longer: webhook order.completed: Event");
  });

  it("allows additions", () => {
    const found = changesAfter(({ paths, components: { schemas } }) => {
      paths["/v1/an_addition"] = { post: { ...paths["/v1/orders"].post } };
      paths["/v1/orders"].get.parameters.push({ name: "year", in: "query", schema: { type: "integer" } });
      schemas.CustomerCreate.properties.an_addition = { type: "string" };
      schemas.OrderCreate.properties.amount.type = ["integer", "string"];
      schemas.Order.properties.an_addition = { type: "string" };
      schemas.Order.required.push("an_addition");
      schemas.Order.properties.status.enum.push("an_addition");
    });
    expect(found).toEqual([]);
  });
});

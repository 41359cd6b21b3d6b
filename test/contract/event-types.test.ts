import { describe, expect, it } from "vitest";
import { EVENT_TYPES, matchesSubscriptions, typesOfSubscription } from "../../src/contract/event-types.ts";
import { RESOURCES } from "../../src/contract/resources.ts";
import { nearest } from "../../src/contract/nearest.ts";

describe("subscriptions", () => {
  it.each([
    ["*", [...EVENT_TYPES]],
    ["order.*", RESOURCES.order.events.map((change) => `order.${change}`)],
    ["order.completed", ["order.completed"]],
    ["order", []],
    ["ord.*", []],
    ["**", []],
    [".", []],
    [".*", []],
    ["", []],
    ["order.completed.*", []],
  ])("%j covers %j", (subscription, types) => {
    expect(typesOfSubscription(subscription)).toEqual(types);
    for (const type of EVENT_TYPES) {
      if (typesOfSubscription(subscription).length === 0) continue;
      expect(matchesSubscriptions([subscription], type)).toBe(types.includes(type));
    }
  });

  it("match any depth below a prefix, and a list by any of its members", () => {
    expect(matchesSubscriptions(["a.*"], "a.b.c")).toBe(true);
    expect(matchesSubscriptions(["a.*"], "ab.c")).toBe(false);
    expect(matchesSubscriptions(["x.y", "a.b"], "a.b")).toBe(true);
    expect(matchesSubscriptions([], "a.b")).toBe(false);
  });
});

describe("the suggested names", () => {
  it("are the intended ones", () => {
    expect(nearest("order.complete", EVENT_TYPES)[0]).toBe("order.completed");
    expect(nearest("payment.suceeded", EVENT_TYPES)[0]).toBe("payment.succeeded");
    expect(nearest("qwertyuiop", EVENT_TYPES)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { compileCheck } from "../../src/platform/http/validate.ts";
import { registerFormats } from "../../src/platform/http/formats.ts";
import { operationsOf } from "../../src/platform/http/operations.ts";
import { parseStrictJson } from "../../src/platform/http/strict-json.ts";
import type { Services } from "../../src/platform/services.ts";
import { DEEP, expectWithinBudget, pumped } from "../support/time-budget.ts";

const list = (length: number, item: (index: number) => string) => Array.from({ length }, (_, i) => item(i)).join();

describe("judges a JSON body of 1 MiB within the budget", () => {
  const digits = pumped("1");
  it.each([
    ["arrays without an end", pumped("[")],
    ["nested arrays", `${"[".repeat(524_288)}${"]".repeat(524_288)}`],
    ["nested objects", pumped('{"a":')],
    ["arrays nested as deep as is allowed", DEEP],
    ["a long integer", digits],
    ["a long fraction with an exponent", `9007199254740993.${digits}e0`],
    ["a long exponent", `1e${digits}`],
    ["a long run of signs", pumped("-")],
    ["many numbers", `[${pumped("1,")}1]`],
    ["many numbers as long as is allowed", `[${pumped(`0.${"1".repeat(62)},`)}1]`],
    ["backslashes in a string", `"${pumped("\\")}`],
    ["escaped quotes in a string", `"${pumped('\\"')}`],
    ["Unicode escapes in a string", `["${pumped("\\u00e9")}"]`],
    ["escaped surrogates in a string", `["${pumped("\\ud83d\\ude00")}"]`],
    ["high surrogates in a string", `["${pumped("\\ud83d")}"]`],
    ["many strings", `[${pumped('"",')}""]`],
    ["many strings with an escape", `[${pumped('"\\n",')}""]`],
    ["many keys", `{${list(90_000, (i) => `"${i}":1`)}}`],
    ["many keys with an escape", `{${list(60_000, (i) => `"\\n${i}":1`)}}`],
    ["many keys that are the numbers of array items far apart", `{${list(60_000, (i) => `"${i * 65_536}":1`)}}`],
    ["many objects", `[${pumped('{"a":1},')}1]`],
    ["many objects of different shapes", `[${list(60_000, (i) => `{"a${i}":1}`)}]`],
    ["one key, again and again", `{${pumped('"a":1,')}"a":1}`],
    ["spaces", pumped(" ")],
    ["spaces after a key", `{"a"${pumped(" ")}`],
    ["quotes", pumped('"')],
    ["colons", pumped('"":')],
    ["null bytes", pumped("\0")],
    ["text outside of ASCII", `["${"é".repeat(524_288)}"]`],
  ])("%s", (_shape, text) => {
    const body = Buffer.from(text);
    const judge = () => {
      try {
        parseStrictJson(body);
      } catch (error) {
        expect(error).toMatchObject({ name: "ApiError", code: "invalid_json" });
        expect((error as Error).message.length).toBeLessThan(200);
      }
    };
    expectWithinBudget(judge);
  });
});

describe("judges 1 MiB in a field within the budget, and does not send it back", () => {
  registerFormats();
  // What is needed here of the operations are their schemas, which depend on no service.
  const bodies = operationsOf({} as Services, () => Promise.reject(new Error("not called"))).flatMap(
    ({ name, body }) => (body === undefined ? [] : [{ name, body }]),
  );
  const ideographs = Array.from({ length: 20_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  const texts = {
    "a host of other scripts": `https://${pumped(ideographs, 300_000)}.example/`,
    "a host of many labels": `https://${pumped("ü.", 500_000)}example/`,
    dots: pumped("."),
    "half of an email address": pumped("a@"),
    colons: pumped("1:"),
    digits: `+${pumped("4")}`,
    "line breaks": pumped("a\n"),
  };

  it.each(bodies)("$name", ({ body }) => {
    const check = compileCheck(body);
    const fields = Object.keys((body as unknown as { properties: object }).properties);
    expect(fields).not.toEqual([]);
    for (const text of Object.values(texts)) {
      for (const field of fields) {
        for (const value of [text, [text], { [text]: text }]) {
          // Any object is the data of an event.
          if (field === "data" && !Array.isArray(value) && typeof value === "object") continue;
          let errors = [{ detail: "" }];
          expectWithinBudget(() => (errors = check({ [field]: value })));
          expect(errors.length, field).toBeGreaterThan(0);
          expect(JSON.stringify(errors).length, field).toBeLessThan(2000);
        }
      }
    }
  });
});

import { describe, expect, it } from "vitest";
import { parseStrictJson } from "../../src/platform/http/strict-json.ts";

const MEBIBYTE = 1024 * 1024;

/** Repeats a text up to 1 MiB. */
const pumped = (text: string) => text.repeat(MEBIBYTE / text.length);
const list = (length: number, item: (index: number) => string) => Array.from({ length }, (_, i) => item(i)).join();

/** Returns the processor time of a call in milliseconds, of the shortest of some runs: other threads take part of it. */
function processorTime(call: () => unknown, runs: number, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs && least > enough; run++) {
    const before = process.cpuUsage();
    call();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const DEEP = `[${pumped(`${"[".repeat(31)}${"]".repeat(31)},`)}1]`;
/**
 * What judging 1 MiB may cost: 100 ms, and on a slow or busy machine twice what JSON.parse alone takes for the shape
 * that it is slowest at. Time that grows with the square of the length takes seconds to minutes instead.
 */
const BUDGET = Math.max(100, 2 * processorTime(() => JSON.parse(DEEP), 3, 0));

/** Fails where no run of the call is within the budget. */
const expectWithinBudget = (call: () => unknown) => expect(processorTime(call, 3, BUDGET)).toBeLessThan(BUDGET);

describe("judges a JSON body of 1 MiB within the budget", () => {
  const digits = pumped("1");
  it.each([
    ["arrays without an end", pumped("[")],
    ["nested arrays", `${"[".repeat(MEBIBYTE / 2)}${"]".repeat(MEBIBYTE / 2)}`],
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
    ["text outside of ASCII", `["${"é".repeat(MEBIBYTE / 2)}"]`],
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

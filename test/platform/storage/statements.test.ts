import { describe, expect, it } from "vitest";
import type { SqlValue } from "../../../src/platform/storage/database.ts";
import { arrange, translate } from "../../../src/platform/storage/statements.ts";

/** Returns SQLite's form of the statement, and the values of its placeholders. */
function translated(sql: string, parameters: readonly unknown[]) {
  const translation = translate(sql);
  return { sql: translation.sql, values: arrange(translation, parameters as SqlValue[]) };
}

describe("translating parameters", () => {
  it.each([
    ["SELECT 1", [], "SELECT 1", []],
    ["SELECT $1, $2", ["a", "b"], "SELECT ?, ?", ["a", "b"]],
    ["SELECT $2, $1, $2", ["a", "b"], "SELECT ?, ?, ?", ["b", "a", "b"]],
    ["VALUES ($10, $1)", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], "VALUES (?, ?)", ["j", "a"]],
    ["SELECT $1, '$2', \"$3\", 'it''s $4'", ["a"], "SELECT ?, '$2', \"$3\", 'it''s $4'", ["a"]],
    ["SELECT '', $1, '' || '$2'", ["a"], "SELECT '', ?, '' || '$2'", ["a"]],
    ["SELECT $1 -- it's $2\n, $2", ["a", "b"], "SELECT ? -- it's $2\n, ?", ["a", "b"]],
    ["SELECT /* it's $9\n? */ $1", ["a"], "SELECT /* it's $9\n? */ ?", ["a"]],
    ["SELECT '?' || $1", ["a"], "SELECT '?' || ?", ["a"]],
    ["SELECT $2", ["unused", "b"], "SELECT ?", ["b"]],
  ])("%j", (sql, parameters, expected, values) => {
    expect(translated(sql, parameters)).toEqual({ sql: expected, values });
  });

  it.each(["SELECT ?", "SELECT $0", "SELECT ?1"])("rejects %j", (sql) => {
    expect(() => translate(sql)).toThrow(/\$1/);
  });
});

describe("checking parameters", () => {
  it.each([
    ["a boolean", true],
    ["undefined", undefined],
    ["a bigint", 1n],
    ["an object", { $1: "a" }],
    ["a date", new Date(0)],
    ["no number", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["2^53", 2 ** 53],
    ["-2^53", -(2 ** 53)],
    ["text with a NUL", "a\0b"],
  ])("rejects %s with its position and the statement", (_, value) => {
    const give = () => translated("SELECT $1, $2", ["fine", value]);
    expect(give).toThrow(TypeError);
    expect(give).toThrow(/\$2.*SELECT \$?\?/);
  });

  it.each([[[]], [["a", "b"]]])("rejects %j for one parameter", (parameters) => {
    expect(() => translated("SELECT $1", parameters)).toThrow(/takes 1 .* given [02]/);
  });
});

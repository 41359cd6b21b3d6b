import { describe, expect, it } from "vitest";
import { wrapStyled } from "../../src/cli/terminal/spans.ts";

const RED = "\u001b[31m";
const END = "\u001b[39m";
const RESET = "\u001b[0m";

describe("a line with styles that is wider than the terminal", () => {
  it.each([
    ["one two three", 8, ["one two", "three"]],
    ["one two", 7, ["one two"]],
    ["abcdefghij k", 4, ["abcd", "efgh", "ij k"]],
    ["日本語テスト", 4, ["日本", "語テ", "スト"]],
    ["  GET    /v1", 8, ["  GET", "/v1"]],
    ["", 8, [""]],
  ])("%j breaks at %d columns", (text, width, lines) => {
    expect(wrapStyled(text, width)).toEqual(lines);
  });

  it("keeps a style on the next line", () => {
    expect(wrapStyled(`one ${RED}two three${END} four`, 8)).toEqual([
      `one ${RED}two${RESET}`,
      `${RED}three${END}`,
      "four",
    ]);
  });
});

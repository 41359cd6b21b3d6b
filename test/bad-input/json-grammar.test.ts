import { describe, expect, it } from "vitest";
import { parseStrictJson } from "../../src/platform/http/json.ts";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { INVALID, type JsonTexts, REJECTED_BY_POLICY, VALID } from "./json-texts.ts";

const { api } = apiOnPlatform();

const casesOf = (texts: JsonTexts) => Object.entries(texts).map(([kind, list]) => ({ kind, list }));
const asBytes = (text: string | Buffer) => (typeof text === "string" ? Buffer.from(text) : text);
const shown = (text: string | Buffer) => JSON.stringify(asBytes(text).toString("latin1", 0, 60));

/** Returns the platform's response to a body. */
async function verdictOn(text: string | Buffer): Promise<{ status: number; code: string; detail: string }> {
  const { status, body } = await api("POST", "/v1/customers", asBytes(text));
  return { status, code: body.code, detail: body.detail };
}

/** Returns true if JSON.parse accepts the text. It follows the grammar, so it proves the tables. */
function isJson(text: string | Buffer): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(asBytes(text)));
    return true;
  } catch {
    return false;
  }
}

describe("a body that is not JSON is rejected", () => {
  it.each(casesOf(INVALID))("$kind", async ({ list }) => {
    for (const text of list) {
      expect(isJson(text), shown(text)).toBe(false);
      expect(await verdictOn(text), shown(text)).toMatchObject({ status: 400, code: "invalid_json" });
    }
  });
});

describe("accepts valid JSON, and rejects it only for its content", () => {
  it.each(casesOf(VALID))("$kind", async ({ list }) => {
    for (const text of list) {
      expect(await verdictOn(text), shown(text)).toMatchObject({ status: 400, code: "invalid_request" });
      expect(parseStrictJson(asBytes(text)), shown(text)).toEqual(JSON.parse(text.toString()));
    }
  });
});

describe("rejects JSON that the policy forbids", () => {
  it.each(Object.entries(REJECTED_BY_POLICY))("%s", async (_why, { detail, texts }) => {
    for (const text of texts) {
      expect(isJson(text), shown(text)).toBe(true);
      const verdict = await verdictOn(text);
      expect(verdict, shown(text)).toMatchObject({ status: 400, code: "invalid_json" });
      expect(verdict.detail, shown(text)).toMatch(detail);
    }
  });
});

it("the list of grammar cases has no duplicate cases", () => {
  for (const lists of [
    Object.values(INVALID),
    Object.values(VALID),
    [Object.values(REJECTED_BY_POLICY).flatMap(({ texts }) => texts)],
  ]) {
    const all = lists.flat().map((text) => asBytes(text).toString("latin1"));
    expect(all.filter((text, i) => all.indexOf(text) !== i)).toEqual([]);
  }
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseFixture, referencesIn } from "../../src/cli/triggering/fixture.ts";
import { UserError } from "../../src/cli/errors.ts";
import { readSettings } from "../../src/cli/settings/read.ts";
import { prettyJson } from "../../src/cli/terminal/json.ts";
import { PLAIN } from "../../src/cli/terminal/styles.ts";
import { parseBaseUrl } from "../../src/client/base-url.ts";
import { parseCredential, withoutCredentials } from "../../src/contract/credentials.ts";
import { LIMITS } from "../../src/contract/limits.ts";
import { parseClientFrame, parsePlatformFrame } from "../../src/contract/listen.ts";
import { parseTimestamp } from "../../src/contract/timestamps.ts";
import { readRetryAfter } from "../../src/network/retry-after.ts";
import { parseRange } from "../../src/network/addresses.ts";
import { checkEndpointUrl, type EndpointUrlRules } from "../../src/platform/domain/endpoint-target.ts";
import { matchesRedirectUri, problemOfRedirectUri } from "../../src/platform/domain/oauth-apps.ts";
import { decodeCursor } from "../../src/platform/http/pagination.ts";
import { isEmail, registerFormats } from "../../src/platform/http/formats.ts";
import { parseIdempotencyKey } from "../../src/platform/http/headers.ts";
import { loggedPath } from "../../src/platform/http/request-log.ts";
import { nothingHere } from "../../src/platform/http/app.ts";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { parseStrictJson } from "../../src/platform/http/json.ts";
import { checkOf } from "../../src/platform/http/validate.ts";
import { parseScopeNames } from "../../src/platform/oauth/scope-names.ts";
import { readUserCode } from "../../src/platform/oauth/device-grant.ts";
import { formOf, queryOf } from "../../src/platform/http/pages/parameters.ts";
import { createVault } from "../../src/platform/security/vault.ts";
import { InvalidResponseError, ResponseParser } from "../../src/network/response-parser.ts";
import { parseSignatureHeader } from "../../src/webhooks/signature-header.ts";
import { createConfigDir } from "../support/run-cli.ts";
import { expectWithinBudget, pumped } from "../support/time-budget.ts";
import { HOSTILE_JSON, HOSTILE_RESPONSES, list, UNITS } from "./hostile-shapes.ts";

const VAULT = createVault(Buffer.alloc(32), { bytes: (count) => Buffer.alloc(count), fraction: () => 0 });

const ENDPOINT_RULES: EndpointUrlRules = {
  allowHttp: false,
  blockReason: () => undefined,
  baseUrl: () => "http://127.0.0.1:4010",
};

describe("validates a JSON body of 1 MiB within the time budget", () => {
  it.each(HOSTILE_JSON)("%s", (_shape, text) => {
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

describe("validates a field of 1 MiB within the time budget, and does not return it", () => {
  registerFormats();
  const bodies = OPERATIONS.flatMap(({ name, body }) => (body === undefined ? [] : [{ name, body }]));
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
    const check = checkOf(body);
    const fields = Object.keys((body as unknown as { properties: object }).properties);
    expect(fields).not.toEqual([]);
    for (const text of Object.values(texts)) {
      for (const field of fields) {
        for (const value of [text, [text], { [text]: text }]) {
          // An event's data may be any object.
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

describe("reads 1 MiB of any repeated text within the time budget", () => {
  const parsers: Record<string, (text: string) => unknown> = {
    "the base URL of a command": (text) => parseBaseUrl(`https://example.com/${text}`, { insecure: false }),
    "the host of a base URL": (text) => parseBaseUrl(`https://${text}`, { insecure: false }),
    "a redirect URI": (text) => problemOfRedirectUri(`https://example.com/${text}`),
    "the host of a redirect URI": (text) => problemOfRedirectUri(`https://${text}/`),
    "a requested redirect URI": (text) => matchesRedirectUri("http://127.0.0.1/cb", `http://127.0.0.1:1/${text}`),
    "the URL of an endpoint": (text) => checkEndpointUrl(`https://${text}/`, ENDPOINT_RULES),
    "an address range": (text) => parseRange(`${text}/8`),
    "an email address": isEmail,
    "a timestamp": parseTimestamp,
    "a credential": parseCredential,
    "a text that may contain credentials": withoutCredentials,
    "a path to log": (text) => loggedPath(`/${text}?${text}`),
    "an Idempotency-Key": parseIdempotencyKey,
    "a Service-Signature": (text) => parseSignatureHeader(`t=1,v1=${text}`),
    "a query": (text) => queryOf(`/?${text}`),
    "a form": (text) => formOf(Buffer.from(text)),
    "the scopes of an app": parseScopeNames,
    "a device's user code": readUserCode,
    "a Retry-After": (text) => readRetryAfter(429, text, 0),
    "a frame from the platform": parsePlatformFrame,
    "a frame from a listener": (text) => parseClientFrame(`{"frame":${text}`),
    "references of a fixture": referencesIn,
    "an unknown path": (text) => nothingHere([{ method: "GET", path: "/v1/customers/:id" }], "GET", `/${text}`, ""),
    "a cursor": (text) => decodeCursor(VAULT, { list: "customers", environment: 1, filters: { email: text } }, text),
    "JSON that is shown": (text) => prettyJson({ [text]: text }, PLAIN),
  };
  const texts = UNITS.map((unit) => pumped(unit));

  it.each(Object.entries(parsers))("%s", (_what, parse) => {
    for (const text of texts) {
      for (const whole of [text, `${text}\u0001`]) {
        expectWithinBudget(() => {
          try {
            parse(whole);
          } catch (error) {
            expect(["TypeError", "RangeError", "ReferenceError"]).not.toContain((error as Error).name);
            expect((error as Error).message.length).toBeLessThan(1000);
          }
        });
      }
    }
  });
});

describe("reads a receiver's response of 1 MiB within the time budget, however it is split", () => {
  const parse = (bytes: Buffer, size: number) => {
    let body = 0;
    const parser = new ResponseParser({ head: () => {}, data: (chunk) => (body += chunk.length), end: () => {} });
    try {
      // The rest of a body is not read.
      for (let at = 0; at < bytes.length && body <= LIMITS.deliveryExcerptBytes; at += size) {
        parser.push(bytes.subarray(at, at + size));
      }
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect((error as Error).message.length).toBeLessThan(200);
    }
  };

  it.each(Object.entries(HOSTILE_RESPONSES))("%s", (_what, text) => {
    const bytes = Buffer.from(text, "latin1");
    // The sizes of a socket read, of a packet and of a byte.
    for (const size of [64 * 1024, 1448]) expectWithinBudget(() => parse(bytes, size));
    expectWithinBudget(() => parse(bytes.subarray(0, 64 * 1024), 1));
  });
});

describe("reads a settings file of 1 MiB within the time budget", () => {
  const profile = { base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", credentials: {} };
  const profiles = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`p${i}`, profile]));
  it.each([
    ...HOSTILE_JSON,
    ["many profiles", JSON.stringify({ version: 1, profiles })],
    [
      "a long address",
      JSON.stringify({ version: 1, profiles: { default: { ...profile, base_url: pumped("é", 500_000) } } }),
    ],
  ] as const)("%s", (_shape, text) => {
    const directory = createConfigDir();
    writeFileSync(join(directory, "config.json"), text);
    expectWithinBudget(() => {
      try {
        expect(Object.keys(readSettings(directory).profiles).length).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        expect((error as Error).message.length).toBeLessThan(1000);
      }
    });
  });
});

describe("validates a fixture of 1 MiB within the time budget", () => {
  const calls = (count: number, call: (index: number) => unknown) =>
    JSON.stringify(Array.from({ length: count }, (_, i) => call(i)));
  const post = { method: "POST", path: "/v1/customers" };
  it.each([
    ["nested arrays", `${"[".repeat(500_000)}${"]".repeat(500_000)}`, "must be an object"],
    ["arrays without an end", pumped("["), "not JSON"],
    [
      "a call with a deep body",
      `[{"method":"POST","path":"/v1/a","body":{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}}]`,
      "deeper",
    ],
    ["many keys in YAML", list(90_000, (i) => `k${i}: 1\n`), "not JSON"],
    ["many tags in YAML", pumped("!a "), "not JSON"],
    ["many aliases in YAML", `- &a 1\n${pumped("- *a\n")}`, "not JSON"],
    ["many calls that are none", `[${pumped("1,")}1]`, "100 mistakes"],
    ["many unknown members", `[{${list(90_000, (i) => `"k${i}":1`)}}]`, "mistakes"],
    [
      "many unknown references",
      calls(1, () => ({ ...post, body: { a: list(50_000, (i) => `\${r${i}.id}`) } })),
      "100 mistakes",
    ],
    [
      "many named calls with unknown references",
      calls(9000, (i) => ({ ...post, name: `n${i}`, body: { a: `\${m${i}.id}` } })),
      "100 mistakes",
    ],
    ["a reference that does not end", calls(1, () => ({ ...post, body: { a: pumped("${") }, more: 1 })), "a mistake"],
  ])("%s", (_what, text, message) => {
    const bytes = Buffer.from(text);
    let output = "";
    expectWithinBudget(() => {
      try {
        parseFixture(bytes, "calls.json");
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        output = `${(error as UserError).message}\n${(error as UserError).hint}`;
      }
    });
    expect(output).toContain(message);
    expect(output.length).toBeLessThan(30_000);
  });
});

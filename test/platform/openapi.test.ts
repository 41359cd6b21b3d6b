import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { beforeAll, describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../src/contract/event-types.ts";
import { apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";

const platform = kitPlatform();
let text: string;
// oxlint-disable-next-line typescript/no-explicit-any -- the test reads every part of the document
let document: any;

beforeAll(async () => {
  text = await (await fetch(`${platform.baseUrl}/openapi.json`)).text();
  document = JSON.parse(text);
});

interface Described {
  operationId: string;
  summary: string;
  tags: string[];
  /** Operations for signed-in users accept no key. */
  security: [{ apiKey?: [] | [string] }, ...object[]];
  parameters: ({ name: string; schema: object; example?: unknown } | { $ref: string })[];
}

interface Entry extends Described {
  method: string;
  path: string;
}

const operations = (): Entry[] =>
  Object.entries(document.paths as Record<string, Record<string, Described>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );

describe("the served document", () => {
  it.each([
    ["/v1/orders/{id}/complete", { status: "completed" }],
    ["/v1/orders/{id}/cancel", { status: "canceled" }],
    ["/v1/payments/{id}/fail", { status: "failed", failure_code: "card_declined" }],
  ])("shows the object as it is after POST %s", (path, expected) => {
    expect(document.paths[path].post.responses[200].content["application/json"].example).toMatchObject(expected);
  });

  it("passes Redocly's recommended rules without an error or a warning", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`)).toEqual([]);
  });

  it("stays the same while the platform runs, and is not sent again to a client that has it", async () => {
    const first = await fetch(`${platform.baseUrl}/openapi.json`);
    const tag = first.headers.get("etag")!;
    expect(first.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await first.text()).toBe(text);
    const second = await fetch(`${platform.baseUrl}/openapi.json`, { headers: { "If-None-Match": tag } });
    expect(second.status).toBe(304);
  });

  it("has a unique name, a summary and a described tag for each operation", () => {
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    expect(new Set(operations().map(({ operationId }) => operationId)).size).toBe(operations().length);
    for (const { operationId, summary, tags: own } of operations()) {
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect(summary).toMatch(/^[A-Z]/);
      expect(tags).toContain(own[0]);
    }
  });

  it("contains the supported versions, and a contact only if the operator has set one", () => {
    expect(document.info).not.toHaveProperty("contact");
    const { schema, example } = document.components.parameters.ServiceVersion;
    expect([schema.enum, example]).toEqual([[document.info.version], document.info.version]);
  });

  it("has a valid example for each parameter except the cursor, and for each schema", () => {
    const ajv = new Ajv2020({ strict: false });
    ajvFormats.default(ajv);
    ajv.addSchema(document, "document");
    const pointer = (...parts: string[]) =>
      `document#/${parts.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
    const fits = (place: string, example: unknown) => {
      const validate = ajv.compile({ $ref: place });
      expect(validate(example), `${place} ${JSON.stringify(example)} ${ajv.errorsText(validate.errors)}`).toBe(true);
    };
    for (const [name, { examples }] of Object.entries<{ examples: unknown[] }>(document.components.schemas)) {
      fits(pointer("components", "schemas", name), examples[0]);
    }
    for (const [name, { example }] of Object.entries<{ example: unknown }>(document.components.parameters)) {
      fits(pointer("components", "parameters", name, "schema"), example);
    }
    let count = 0;
    for (const { method, path, parameters } of operations()) {
      for (const [index, parameter] of parameters.entries()) {
        if ("$ref" in parameter) continue;
        if (parameter.name === "cursor") {
          // Only a cursor from the platform is valid.
          expect(parameter).not.toHaveProperty("example");
          expect(parameter.schema).not.toHaveProperty("examples");
          continue;
        }
        fits(pointer("paths", path, method.toLowerCase(), "parameters", String(index), "schema"), parameter.example);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(50);
  });

  it("describes the ID in each path", () => {
    const named = Object.entries(document.paths as Record<string, object>).filter(([path]) => path.includes("{id}"));
    for (const [path, methods] of named) {
      for (const { parameters } of Object.values(methods) as { parameters: { name?: string; schema: object }[] }[]) {
        const schema = parameters.find(({ name }) => name === "id")?.schema;
        expect(schema, path).toMatchObject({
          type: "string",
          pattern: expect.stringMatching(path.startsWith("/v1/sandbox") ? /^\^\[/ : /^\^[a-z]+_\[/),
        });
      }
    }
  });

  it("has no enum with a pattern, which breaks validator generators", () => {
    const found: unknown[] = [];
    JSON.stringify(document, (_key, value) => {
      if (value?.enum !== undefined && value.pattern !== undefined) found.push(value);
      return value;
    });
    expect(found).toEqual([]);
  });

  it("describes the request of every event type, with its resource", () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES]);
    const { schema, example } = document.webhooks["order.completed"].post.requestBody.content["application/json"];
    expect(schema.allOf[1].properties.data.properties.object).toEqual({ $ref: "#/components/schemas/Order" });
    expect(example).toMatchObject({ type: "order.completed", data: { object: { object: "order", currency: "EUR" } } });
  });

  it("contains no custom schema keywords", () => {
    const standard = new Set(["email", "uri", "uri-reference", "date-time"]);
    const formats = [...text.matchAll(/"format":"([^"]*)"/g)].map(([, format]) => format!);
    expect(new Set(formats)).toEqual(standard);
    expect(text).not.toContain("$id");
  });

  it("describes the event stream", async () => {
    const described = document.paths["/v1/events/stream"].get;
    const names = described.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["after", "type", "Last-Event-ID"]);
    const controller = new AbortController();
    const response = await fetch(`${platform.baseUrl}/v1/events/stream?after=-60&type=order.*`, {
      headers: { Authorization: `Bearer ${platform.apiKey}` },
      signal: controller.signal,
    });
    const mediaType = response.headers.get("content-type")!.split(";")[0]!;
    expect([response.status, Object.keys(described.responses["200"].content)]).toEqual([200, [mediaType]]);
    const first = await response.body!.getReader().read();
    const [, cursor] = /^retry: 1000\nid: evt_\w+\nevent: ready\ndata: \{"cursor":"(evt_\w+)"\}/.exec(
      new TextDecoder().decode(first.value),
    )!;
    controller.abort();
    const wrong = await apiOf(platform.baseUrl, platform.apiKey)("GET", "/v1/events/stream?after=soon");
    expect([wrong.status, wrong.body.code]).toEqual([400, "invalid_request"]);
    expect(cursor).toMatch(/^evt_[0-9A-Za-z]{22}$/);
  });

  it("links every problem to its page", async () => {
    const links = new Set([...text.matchAll(/\((\/problems\/[a-z_]+)\)/g)].map(([, link]) => link!));
    expect(links.size).toBeGreaterThan(20);
    for (const link of links) expect((await fetch(platform.baseUrl + link)).status).toBe(200);
  });
});

describe("documented security requirements are enforced", () => {
  it("at every operation, for a key with all scopes but the required one", async () => {
    const owner = apiOf(platform.baseUrl, platform.apiKey);
    const scopes = [...new Set(operations().flatMap(({ security: [{ apiKey = [] }] }) => [...apiKey]))];
    expect(scopes.length).toBeGreaterThan(10);
    const keys = new Map<string, string>();
    for (const scope of scopes) {
      const others = scopes.filter((other) => other !== scope);
      keys.set(scope, (await owner("POST", "/v1/api_keys", { scopes: others })).body.key);
    }
    for (const { method, path, security } of operations()) {
      const [scope] = security[0].apiKey ?? [];
      if (scope === undefined) continue;
      const response = await apiOf(platform.baseUrl, keys.get(scope))(method, path);
      expect(response.body).toMatchObject({ status: 403, code: "insufficient_scope", required_scope: scope });
      expect(response.headers.get("www-authenticate")).toContain(scope);
    }
  });

  it("at every operation, for a request without a credential", async () => {
    for (const { method, path, security } of operations()) {
      const response = await apiOf(platform.baseUrl, undefined)(method, path);
      const code = security.some((way) => "leakReport" in way) ? "invalid_signature" : "missing_credential";
      expect(response.body).toMatchObject({ status: 401, code });
    }
  });
});

import { beforeAll, describe, expect, it } from "vitest";
import { typeOf } from "../../src/contract/field-types.ts";
import { inputFieldsOf, kindsWith, OBJECT_KINDS, pathOf, resourceOf, RESOURCES } from "../../src/contract/resources.ts";
import { runCli } from "../support/run-cli.ts";
import { kitPlatform } from "../testing/kit.ts";

interface Schema {
  properties: Record<string, { enum?: string[]; "x-secret"?: boolean }>;
  required?: string[];
}

interface Body {
  content: { "application/json": { schema: { $ref: string } } };
}

interface Operation {
  requestBody?: Body;
  responses: Record<string, Body>;
}

const platform = kitPlatform();
let document: { components: { schemas: Record<string, Schema> }; paths: Record<string, Record<string, Operation>> };
beforeAll(async () => {
  document = (await (await fetch(`${platform.baseUrl}/openapi.json`)).json()) as typeof document;
});

function schemaOf({ content }: Body): Schema {
  return document.components.schemas[content["application/json"].schema.$ref.split("/").at(-1)!]!;
}

describe("the table of resources", () => {
  it("gives each resource a unique prefix, path and page", () => {
    for (const member of ["prefix", "plural"] as const) {
      const values = kindsWith(member).map((kind) => resourceOf(kind)[member]);
      expect(new Set(values).size).toBe(values.length);
    }
    const pages = kindsWith("page").map((kind) => RESOURCES[kind].page.name);
    expect(new Set(pages).size).toBe(pages.length);
  });

  it("moves objects to statuses that exist and have an event", () => {
    for (const kind of kindsWith("actions")) {
      const { statuses = {}, events = [], fields = {}, actions = {} } = resourceOf(kind);
      for (const { to, takes = {} } of Object.values(actions)) {
        expect(Object.keys(statuses)).toContain(to);
        expect(events).toContain(to);
        expect(Object.keys(fields)).toEqual(expect.arrayContaining(Object.keys(takes)));
      }
    }
  });

  it("gives every resource with an amount the currency of the amount", () => {
    for (const kind of kindsWith("fields")) {
      const types = Object.entries(resourceOf(kind).fields ?? {}).map(([name, { type }]) => ({ name, type }));
      if (!types.some(({ type }) => type === "amount")) continue;
      expect(types, kind).toContainEqual({ name: "currency", type: "currency" });
    }
  });

  it("gives every resource that can be updated a field that `service trigger` changes", () => {
    for (const kind of kindsWith("updatable")) {
      const changed = inputFieldsOf(kind).filter(([, { examples = [] }]) => examples.length > 1);
      expect(changed, `${kind}: give a field two examples, the value before and after the update`).not.toEqual([]);
    }
  });

  it("gives unique fields an example and a type of text that can vary", () => {
    for (const kind of kindsWith("fields")) {
      for (const [name, { type, examples }] of inputFieldsOf(kind).filter(([, field]) => field.unique)) {
        const says = `${kind}.${name}: give the field an example, and its type a function to vary it`;
        expect({ examples, vary: typeOf(type).vary }, says).toEqual({
          examples: expect.any(Array),
          vary: expect.any(Function),
        });
      }
    }
  });

  it.each(kindsWith("fields"))("has the fields of %s that the API returns and accepts", async (kind) => {
    const { statuses = {}, fields = {}, custom } = resourceOf(kind);
    const { [pathOf(kind)]: list, [`${pathOf(kind)}/{id}`]: one } = document.paths;
    const shown = schemaOf(one!["get"]!.responses["200"]!);
    const created = schemaOf(list!["post"]!.requestBody!);
    const inputs = inputFieldsOf(kind);
    const names = Object.keys(shown.properties);
    if (!custom) expect(names).toEqual(["id", "object", ...Object.keys(fields), "livemode", "created"]);
    expect("metadata" in fields, `${kind}: give the resource metadata, which all without custom code have`).toBe(
      !custom,
    );
    expect(shown.properties["status"]?.enum ?? []).toEqual(Object.keys(statuses));
    expect(Object.keys(created.properties)).toEqual(inputs.map(([name]) => name));
    expect(created.required ?? []).toEqual(inputs.filter(([, { required }]) => required).map(([name]) => name));
    const { patch } = one!;
    if (patch !== undefined) {
      const changeable = inputs.filter(([, { fixed }]) => !fixed).map(([name]) => name);
      const { status, ...updated } = schemaOf(patch.requestBody!).properties;
      expect(Object.keys(updated)).toEqual(changeable);
      expect(status === undefined).toBe(!custom || Object.keys(statuses).length === 0);
    }
    const listed = names.filter((name) => shown.properties[name]?.["x-secret"] !== true);
    const args = [RESOURCES[kind].command.name, "list", "--fields", listed.join(",")];
    expect(await runCli(args, { env: platform.env })).toMatchObject({ exitCode: 0 });
  });

  it.each(OBJECT_KINDS)("has the operations of %s and a command for each", async (kind) => {
    const { actions = {}, updatable, deletable } = resourceOf(kind);
    const { [pathOf(kind)]: list, [`${pathOf(kind)}/{id}`]: one } = document.paths;
    expect(Object.keys(list!)).toEqual(["post", "get"]);
    expect(Object.keys(one!)).toEqual(["get", ...(updatable ? ["patch"] : []), ...(deletable ? ["delete"] : [])]);
    for (const verb of Object.keys(actions)) expect(document.paths).toHaveProperty([`${pathOf(kind)}/{id}/${verb}`]);
    const { stdout } = await runCli([RESOURCES[kind].command.name, "--help"]);
    const verbs = ["create", "list", "get", ...Object.keys(actions)];
    for (const verb of [...verbs, ...(updatable ? ["update"] : []), ...(deletable ? ["delete"] : [])]) {
      expect(stdout).toMatch(new RegExp(`^  ${verb} `, "m"));
    }
  });
});

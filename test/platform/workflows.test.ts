import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const on = apiOnPlatform();

interface Workflows {
  sourceDescriptions: { url: string }[];
  workflows: { workflowId: string; steps: { operationId: string; successCriteria: object[] }[] }[];
}

const get = (path: string) => fetch(on.platform.baseUrl + path);

describe("/arazzo.json", () => {
  it("is a valid Arazzo document that pages of any origin can read", async () => {
    const response = await get("/arazzo.json");
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    const source = await response.text();
    expect(JSON.parse(source)).toMatchObject({ arazzo: "1.0.1" });
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source, absoluteRef: "arazzo.json", config });
    expect(problems.map(({ ruleId, message }) => `${ruleId} ${message}`)).toEqual([]);
  });

  it("names operations of the OpenAPI document, with a condition for each step", async () => {
    const { sourceDescriptions, workflows } = (await (await get("/arazzo.json")).json()) as Workflows;
    expect(workflows.map(({ workflowId }) => workflowId)).toEqual(["payForOrder", "receiveEvents", "retryDelivery"]);
    const { paths } = (await (await fetch(sourceDescriptions[0]!.url)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    for (const { operationId, successCriteria } of workflows.flatMap(({ steps }) => steps)) {
      expect(operations).toContain(operationId);
      expect(successCriteria.length).toBeGreaterThan(0);
    }
  });
});

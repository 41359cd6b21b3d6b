import type { Tool as ListedTool } from "@modelcontextprotocol/sdk/types.js";
import type { Tool } from "./tool.ts";

/** Formats of JSON Schema that every validator knows; the contract's own are checked by the platform. */
const COMMON_FORMATS: ReadonlySet<unknown> = new Set(["email", "uri", "date-time"]);

/** A tool as `tools/list` shows it. */
export function describeTool({ name, description, effect, input }: Tool): ListedTool {
  return {
    name,
    description,
    inputSchema: plainSchema(input) as ListedTool["inputSchema"],
    annotations: { readOnlyHint: effect === "reads", destructiveHint: effect === "removes", openWorldHint: false },
  };
}

/** JSON Schema without what means nothing outside the contract. */
function plainSchema(schema: object): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      const isForeign = key === "$id" || (key === "format" && typeof value === "string" && !COMMON_FORMATS.has(value));
      return isForeign ? undefined : value;
    }),
  );
}

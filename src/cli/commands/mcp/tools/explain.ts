import { Type } from "typebox";
import { closed, nullable } from "../../../../contract/schemas/fields.ts";
import { explain } from "../../why/explanation.ts";
import { ownTool, type Tool } from "../tool.ts";

const Finding = Type.Object({
  code: Type.String(),
  subject: Type.String({ description: "ID of the affected object" }),
  summary: Type.String(),
  fix: nullable(Type.String({ description: "The command that fixes it" })),
});

const objectOf = (description: string) => Type.Unsafe<object>({ type: "object", description });

const ExplanationSchema = Type.Object({
  object: Type.Literal("explanation"),
  id: Type.String(),
  kind: Type.String(),
  cause: nullable(Type.String({ description: "The code of the first finding" })),
  findings: Type.Array(Finding, { description: "Causes, most likely first" }),
  request: nullable(objectOf("The API request that caused it, as get_request_log returns it")),
  subject: nullable(objectOf("The object as it is now")),
  event: nullable(objectOf("The event, as get_event returns it")),
  deliveries: Type.Array(objectOf("A delivery, as get_delivery returns it")),
  operation: nullable(objectOf("The bulk operation")),
});

export const EXPLAIN_TOOLS: readonly Tool[] = [
  ownTool({
    name: "explain",
    description:
      "Explain an ID (evt_, dlv_, req_, cus_, ord_, pay_, we_ or blk_): its API request, object, event, deliveries and " +
      "attempts, the likely cause of a failure as a stable code, and the command that fixes it.",
    scopes: [["events:read", "deliveries:read", "request_logs:read"]],
    effect: "reads",
    output: ExplanationSchema,
    input: closed({ id: Type.String({ description: "The ID to explain" }) }),
    run: async ({ id }, { client }) => (await explain(client, id)).explanation,
  }),
];

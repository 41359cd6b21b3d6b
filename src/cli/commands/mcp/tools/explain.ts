import { Type } from "typebox";
import { closed } from "../../../../contract/schemas/fields.ts";
import { explain } from "../../why/explanation.ts";
import { ownTool, type Tool } from "../tool.ts";

export const EXPLAIN_TOOLS: readonly Tool[] = [
  ownTool({
    name: "explain",
    description:
      "Explain an ID (evt_, dlv_, req_, cus_, ord_, pay_, we_ or blk_): its API request, object, event, deliveries and " +
      "attempts, the likely cause of a failure as a stable code, and the command that fixes it.",
    scopes: [["events:read", "deliveries:read", "request_logs:read"]],
    effect: "reads",
    input: closed({ id: Type.String({ description: "The ID to explain" }) }),
    run: async ({ id }, { client }) => (await explain(client, id)).explanation,
  }),
];

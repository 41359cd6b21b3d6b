import { closed } from "../../../../contract/schemas/fields.ts";
import { TestClockAdvance } from "../../../../contract/schemas/test-clock.ts";
import { ADVANCE_LIMIT_SECONDS } from "../../clock/advance.ts";
import { CLOCK_PATH } from "../../clock/view.ts";
import { apiTool, type Tool } from "../tool.ts";

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool({
    name: "get_test_clock",
    description: "Show the sandbox's time and how far it is ahead of real time.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: CLOCK_PATH,
    input: closed({}),
  }),
  apiTool({
    name: "advance_test_clock",
    description:
      "Move the sandbox's time on. Retries that fall due on the way are attempted before this answers with their number.",
    scope: "deliveries:write",
    effect: "removes",
    method: "POST",
    path: `${CLOCK_PATH}/advance`,
    timeLimit: ADVANCE_LIMIT_SECONDS,
    input: TestClockAdvance,
  }),
];

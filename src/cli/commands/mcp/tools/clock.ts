import { closed } from "../../../../contract/schemas/fields.ts";
import { TestClockAdvance } from "../../../../contract/schemas/test-clock.ts";
import { CLOCK_PATH } from "../../clock/view.ts";
import { apiTool, type Tool } from "../tool.ts";

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool({
    name: "get_test_clock",
    description: "Show the sandbox's time, how far it is ahead of real time, and how far an advance got.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: CLOCK_PATH,
    input: closed({}),
  }),
  apiTool({
    name: "advance_test_clock",
    description:
      "Move the sandbox's time on and make the retries that fall due on the way. While the status in the response is " +
      "`advancing`, the clock is still on its way: call get_test_clock until it is not.",
    scope: "deliveries:write",
    effect: "removes",
    method: "POST",
    path: `${CLOCK_PATH}/advance`,
    input: TestClockAdvance,
  }),
];

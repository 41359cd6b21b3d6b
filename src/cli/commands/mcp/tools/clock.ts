import { closed } from "../../../../contract/schemas/fields.ts";
import { TestClockAdvance } from "../../../../contract/schemas/test-clock.ts";
import { CLOCK_PATH } from "../../clock/view.ts";
import { apiTool, type Tool } from "../tool.ts";

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool({
    name: "get_test_clock",
    description: "Show the sandbox's time, its offset from real time, and the progress of an advance.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: CLOCK_PATH,
    input: closed({}),
  }),
  apiTool({
    name: "advance_test_clock",
    description:
      "Advance the sandbox's time and attempt the deliveries that fall due. While the status in the response is " +
      "`advancing`, the advance is still in progress: call get_test_clock until it is not.",
    scope: "deliveries:write",
    effect: "removes",
    method: "POST",
    path: `${CLOCK_PATH}/advance`,
    input: TestClockAdvance,
  }),
];

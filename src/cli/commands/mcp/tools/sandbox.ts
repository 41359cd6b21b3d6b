import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { RequestLogDetail, RequestLogList, RequestLogListQuery } from "../../../../contract/schemas/request-log.ts";
import { TestClock, TestClockAdvance } from "../../../../contract/schemas/test-clock.ts";
import { CLOCK_PATH } from "../../clock.ts";
import { apiTool, type Tool } from "../tool.ts";

const RequestId = idOf("request", { description: "ID of an API request, req_…" });

export const REQUEST_LOG_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_request_logs",
    description: "List the API requests of the last 7 days, newest first, by method, path, status or key.",
    scope: "request_logs:read",
    effect: "reads",
    method: "GET",
    path: "/v1/request_logs",
    input: RequestLogListQuery,
    output: RequestLogList,
  }),
  apiTool({
    name: "get_request_log",
    description: "Retrieve an API request with its headers, bodies and the events it caused.",
    scope: "request_logs:read",
    effect: "reads",
    method: "GET",
    path: "/v1/request_logs/{id}",
    input: closed({ id: RequestId }),
    output: RequestLogDetail,
  }),
];

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool({
    name: "get_test_clock",
    description: "Show the sandbox's time, its offset from real time, and the progress of an advance.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: CLOCK_PATH,
    input: closed({}),
    output: TestClock,
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
    output: TestClock,
  }),
  apiTool({
    name: "cancel_test_clock",
    description: "Stop an advance of the test clock before its target.",
    scope: "deliveries:write",
    effect: "changes",
    idempotent: true,
    method: "POST",
    path: `${CLOCK_PATH}/cancel`,
    input: closed({}),
    output: TestClock,
  }),
  apiTool({
    name: "reset_test_clock",
    description: "Return the sandbox to real time. Deliveries that are due stay due.",
    scope: "deliveries:write",
    effect: "changes",
    idempotent: true,
    method: "POST",
    path: `${CLOCK_PATH}/reset`,
    input: closed({}),
    output: TestClock,
  }),
];

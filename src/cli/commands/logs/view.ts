import type { RequestLog } from "../../../contract/schemas/request-log.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import type { Column } from "../../terminal/view.ts";
import { CREATED, ENVIRONMENT, ID } from "../resource/columns.ts";
import type { Resource } from "../resource/resource.ts";

const STATUS: Column<RequestLog> = {
  label: "Status",
  text: ({ status }) => String(status),
  style: (_text, styles, { status }) => colorStatus(status, styles),
};
const METHOD: Column<RequestLog> = {
  label: "Method",
  text: ({ method }) => method,
  style: (text, styles) => styles.strong(text),
};
const PATH: Column<RequestLog> = { label: "Path", text: ({ path }) => path, shrinks: true };
const ERROR: Column<RequestLog> = { label: "Error", text: ({ error_code }) => error_code ?? "" };
const DURATION: Column<RequestLog> = {
  label: "Duration",
  text: ({ duration_ms }, { terminal }) => (terminal ? `${duration_ms} ms` : String(duration_ms)),
  align: "right",
};

export const LOGS: Resource<RequestLog> = {
  path: "/v1/request_logs",
  command: "logs",
  exampleId: "req_4Vf8aTqz0bKm2sNw9XyRcd",
  view: {
    noun: "request",
    plural: "requests",
    fields: [
      "id",
      "object",
      "method",
      "path",
      "status",
      "duration_ms",
      "key",
      "user",
      "idempotency_key",
      "error_code",
      "livemode",
      "created",
    ],
    columns: [
      STATUS,
      METHOD,
      PATH,
      { ...ERROR, optional: true },
      { ...DURATION, optional: true },
      { ...ID, optional: true },
      CREATED,
    ],
    details: [ID, STATUS, METHOD, PATH, ERROR, DURATION, ENVIRONMENT, CREATED],
  },
};

import { InvalidArgumentError } from "commander";
import { memberNamesOf } from "../../client/response-check.ts";
import type { QueryValue } from "../../client/base-url.ts";
import { parseJson } from "../../contract/json.ts";
import type { RequestLog, RequestLogDetail, RequestMethod } from "../../contract/schemas/request-log.ts";
import { objectId } from "../arguments/values.ts";
import { type CommandDefinition, type Flag, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { printable } from "../terminal/printable.ts";
import type { cutMiddle } from "../terminal/spans.ts";
import { clockTime, colorStatus, isOwnRead, statusStyle } from "../terminal/traffic.ts";
import type { Column } from "../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "../resource/columns.ts";
import { followList } from "../resource/follow.ts";
import type { Resource } from "../resource/resource.ts";
import { getVerb, listVerb, SEARCH_FILTERS } from "../resource/verbs.ts";

const METHODS: readonly RequestMethod[] = ["GET", "HEAD", "POST", "PATCH", "DELETE"];

const FILTERS: readonly Flag[] = [
  flag("--method <method>", "Filter by method", { choices: METHODS, parse: parseMethod }),
  flag("--path <path>", "Filter by path, such as /v1/customers or '/v1/orders*'"),
  flag("--status <code>", "Filter by status code, or a class such as 4xx", { parse: parseStatus }),
  flag("--key <id>", "Filter by API key", { parse: objectId }),
  flag("--reads <which>", "Of GET and HEAD requests, show only these", { choices: ["failed"] }),
];

const OWN_READS: Flag = flag("--own-reads", "Also show successful reads by this CLI");

/** Returns true if flags ask for reads. A key's requests are all shown: it may have leaked. */
function showsReads({ ownReads, method, key }: { ownReads?: unknown; method?: unknown; key?: unknown }): boolean {
  return ownReads === true || method === "GET" || method === "HEAD" || key !== undefined;
}

/** Methods are uppercase in HTTP, but may be typed in any case. */
function parseMethod(text: string): string {
  const method = METHODS.find((name) => name === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError(`Allowed choices are ${METHODS.join(", ")}.`);
  return method;
}

function parseStatus(text: string): string {
  if (/^[1-5](\d\d|xx)$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("Must be a status code such as 404, or a class such as 4xx.");
}

const STATUS: Column<RequestLog> = {
  label: "Status",
  text: ({ status }) => String(status),
  styleOf: (_text, { status }) => statusStyle(status),
};
const METHOD: Column<RequestLog> = { label: "Method", text: ({ method }) => method, style: "strong" };
const PATH: Column<RequestLog> = { label: "Path", text: ({ path }) => path, shrinks: true };
const ERROR: Column<RequestLog> = { label: "Error", text: ({ error_code }) => error_code ?? "" };
const DURATION: Column<RequestLog> = {
  label: "Duration",
  text: ({ duration_ms }, { terminal }) => (terminal ? `${duration_ms} ms` : String(duration_ms)),
  align: "right",
};

const LEFT_OUT: Column<RequestLog> = {
  label: "Left out",
  text: ({ left_out: count }) => (count === 0 ? "" : `${count} similar requests within the second`),
};

const LOGS: Resource<RequestLog> = {
  path: "/v1/request_logs",
  command: "logs",
  exampleId: "req_4Vf8aTqz0bKm2sNw9XyRcd",
  isInRealTime: true,
  view: {
    noun: "request",
    fields: memberNamesOf("RequestLog"),
    columns: [
      ID,
      STATUS,
      METHOD,
      PATH,
      { ...ERROR, optional: true },
      { ...DURATION, optional: true },
      { ...CREATED, optional: false },
    ],
    details: [ID, STATUS, METHOD, PATH, ERROR, LEFT_OUT, DURATION, ENVIRONMENT, CREATED_AT],
  },
};

/** JSON is shown as such, and other text as it is. */
function shownBody(body: string | null): unknown {
  const value = parseJson(body ?? "null");
  return value === undefined ? body : value;
}

/** One request, with headers and bodies. */
const LOG: Resource<RequestLogDetail> = {
  ...LOGS,
  view: {
    ...LOGS.view,
    fields: memberNamesOf("RequestLogDetail"),
    details: [
      ID,
      STATUS,
      METHOD,
      PATH,
      { label: "Query", text: ({ query }) => query ?? "" },
      ERROR,
      { label: "Fault", text: ({ fault }) => (fault === null ? "" : `${fault.effect} ${fault.id}`) },
      LEFT_OUT,
      DURATION,
      {
        label: "Bodies",
        text: ({ missing_scope: scope }) =>
          scope === null ? "" : scope === "session" ? "hidden: shown in the dashboard" : `hidden: requires ${scope}`,
      },
      { label: "Credential", text: ({ key, user }) => key ?? user ?? "" },
      { label: "Client", text: ({ client_address: address }) => address ?? "" },
      { label: "Events", text: ({ events }, { terminal }) => events.join(terminal ? " " : ",") },
      ENVIRONMENT,
      CREATED_AT,
    ],
    block: {
      label: "Exchange",
      value: (log) => ({
        request: { headers: log.request_headers, body: shownBody(log.request_body) },
        response: { headers: log.response_headers, body: shownBody(log.response_body) },
      }),
    },
  },
};

/** `service logs`. */
export const command: CommandDefinition = {
  name: "logs",
  about: "View or follow the API requests of the last 7 days",
  examples: [
    "service logs list --status 404",
    "service logs list --method POST --path /v1/customers",
    "service logs get req_4Vf8aTqz0bKm2sNw9XyRcd",
    "service logs tail",
  ],
  commands: [
    listVerb(LOGS, {
      filters: [...FILTERS, ...SEARCH_FILTERS],
      options: [OWN_READS],
      hiding: (flags) => (showsReads(flags) ? undefined : { isHidden: isOwnRead, note: HIDDEN_READS }),
      examples: [
        "service logs list --status 4xx --since 1h # Rejected requests of the last hour",
        "service logs list --key key_4Vf8aTqz0bKm2sNw9XyRcd # Requests with one API key",
        "service logs list --json --jq '.[] | {id, path, error_code}'",
      ],
    }),
    getVerb(LOG),
    {
      name: "tail",
      about: "Follow API requests until Ctrl-C",
      options: [...FILTERS, { ...OWN_READS, formerly: "--all" }],
      fields: LOGS.view,
      examples: ["service logs tail", "service logs tail --status 500", "service logs tail --json"],
      run: runTail,
    },
  ],
};

const GAP = "  ";
const MIN_PATH_WIDTH = 8;
const METHOD_WIDTH = "DELETE".length;
/** Room for a path with an ID, and for a duration with its gap. */
const WIDE_PATH = 30;
const MAX_PATH_WIDTH = 64;
const DURATION_WIDTH = 12;
/** A request is listed once it has finished, under its start time. None takes longer than this. */
const MAX_REQUEST_MILLISECONDS = 60_000;

type Filters = Record<"method" | "path" | "status" | "key" | "reads", QueryValue> & { ownReads?: true };

const HIDDEN_READS = "Successful reads by this CLI are hidden. To show them, pass --own-reads.";

/** What commands read themselves would hide what applications do. */
async function runTail(context: Context, { method, path, status, key, reads, ownReads }: Filters): Promise<void> {
  const spans = await import("../terminal/spans.ts");
  const print = context.output.stream(LOGS.view, (log: RequestLog) => logLine(log, context, spans.cutMiddle));
  await followList<RequestLog>(context, {
    path: LOGS.path,
    query: { method, path, status, key, reads },
    maxLag: MAX_REQUEST_MILLISECONDS,
    filter: (log) => showsReads({ ownReads, method, key }) || !isOwnRead(log),
    ready: `Following API requests. Press Ctrl-C to stop.${showsReads({ ownReads, method, key }) ? "" : `\n${HIDDEN_READS}`}`,
    waiting: "Waiting for requests",
    print,
  });
}

/**
 * Aligns all columns. Without room, leaves out the duration, the error, and the middle of the path: `why` needs the ID.
 */
function logLine(log: RequestLog, { output: { styles, width } }: Context, cut: typeof cutMiddle): string {
  const time = clockTime(Date.parse(log.created));
  const method = printable(log.method).padEnd(METHOD_WIDTH);
  const id = printable(log.id);
  const room = width - [time, String(log.status), method, "", id].join(GAP).length;
  const isWide = room >= WIDE_PATH + DURATION_WIDTH;
  const available = isWide ? room - DURATION_WIDTH : room;
  const pathWidth = Math.max(Math.min(available, MAX_PATH_WIDTH), MIN_PATH_WIDTH);
  const path = cut(printable(log.path), pathWidth);
  const error = printable(log.error_code ?? "");
  const hasError = error !== "" && path.length + GAP.length + error.length <= pathWidth;
  const what = hasError ? `${path}${GAP}${styles.dim(error)}` : path;
  const length = path.length + (hasError ? GAP.length + error.length : 0);
  const duration = isWide ? [styles.dim(`${log.duration_ms} ms`.padStart(DURATION_WIDTH - GAP.length))] : [];
  const parts = [
    styles.dim(time),
    colorStatus(log.status, styles),
    styles.strong(method),
    what + " ".repeat(Math.max(pathWidth - length, 0)),
    ...duration,
    styles.dim(id),
  ];
  return parts.join(GAP);
}

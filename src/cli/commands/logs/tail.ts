import type { Command, Option } from "commander";
import type { QueryValue } from "../../../client/base-url.ts";
import type { RequestLog } from "../../../contract/schemas/request-log.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { printable } from "../../terminal/printable.ts";
import { clockTime, colorStatus } from "../../terminal/traffic.ts";
import { followList } from "../resource/follow.ts";
import { LOGS } from "./view.ts";

const GAP = "  ";
const METHOD_WIDTH = "DELETE".length;
/** A request is listed once it was answered, under the time at which it came; none takes longer than this. */
const MAX_REQUEST_MILLISECONDS = 60_000;

type Filters = Record<"method" | "path" | "status" | "key", QueryValue>;

export function registerTail(logs: Command, context: Context, filters: readonly Option[]): void {
  const tail = logs.command("tail").description("Follow API requests until Ctrl-C");
  for (const filter of filters) tail.addOption(filter);
  tail.action((flags: Filters) => runTail(flags, context));
  addExamples(addFields(tail, LOGS.view), [
    "service logs tail",
    "service logs tail --status 500",
    "service logs tail --json",
  ]);
}

async function runTail({ method, path, status, key }: Filters, context: Context): Promise<void> {
  const print = context.output.stream(LOGS.view, (log: RequestLog) => logLine(log, context));
  await followList<RequestLog>(context, {
    path: LOGS.path,
    query: { method, path, status, key },
    timed: false,
    maxLag: MAX_REQUEST_MILLISECONDS,
    ready: "Following API requests. Press Ctrl-C to stop.",
    waiting: "Waiting for requests",
    print,
  });
}

/** What does not fit is left out, the least telling first. */
function logLine(log: RequestLog, { output: { styles, width } }: Context): string {
  const time = clockTime(Date.parse(log.created));
  const method = printable(log.method).padEnd(METHOD_WIDTH);
  const path = printable(log.path);
  const parts = [styles.dim(time), colorStatus(log.status, styles), styles.strong(method), path];
  let used = [time, String(log.status), method, path].join(GAP).length;
  for (const text of [printable(log.error_code ?? ""), printable(log.id), `${log.duration_ms} ms`]) {
    used += GAP.length + text.length;
    if (text === "" || used > width) continue;
    parts.push(styles.dim(text));
  }
  return parts.join(GAP);
}

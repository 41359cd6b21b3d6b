import { memberNamesOf } from "../../client/response-check.ts";
import { apiPath } from "../../client/base-url.ts";
import { nounOf, nounsOf, pathOf } from "../../contract/resources.ts";
import type { BulkFilters, BulkOperation } from "../../contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { readInstead } from "../../explain/resend.ts";
import { objectId, pointInTime } from "../arguments/values.ts";
import { type Flag, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { EnvironmentClock, resolveTime } from "../environment-time.ts";
import { UsageError, UserError } from "../errors.ts";
import type { Column, FieldNames, ResourceView } from "../terminal/view.ts";
import { CREATED_AT, ENVIRONMENT, statusColumn, toneOf } from "./columns.ts";
import { asks, confirmDestruction } from "./verbs.ts";

const POLL_MILLISECONDS = 250;
const PATH = pathOf("bulk_operation");

/** Flags that select many objects. */
export interface BulkFlags {
  since?: string;
  until?: string;
  type?: string;
  endpoint?: string;
  failed?: true;
  missed?: true;
  pending?: true;
  yes?: true;
  idempotencyKey?: string;
}

/** The request that performs the work, and its name in the output. */
interface BulkWork {
  kind: "delivery" | "event";
  /** `/v1/deliveries/retry` */
  path: string;
  verb: "Retry" | "Replay";
  filters: BulkFilters;
  flags: BulkFlags;
}

/** `--since`, `--until`, `--type`, `--endpoint` and `--yes`, for commands that work on one object or on many. */
export function bulkFlags(objects: string, endpoint: string): Flag[] {
  return [
    flag("--since <time>", `Earliest creation time of the ${objects}: a timestamp, a date, or an age such as 2h`, {
      parse: pointInTime,
    }),
    flag("--until <time>", "Latest creation time, in the same formats", { parse: pointInTime }),
    flag("--type <subscription>", "Only this event type, or a wildcard such as 'order.*'"),
    flag("--endpoint <id>", endpoint, { parse: objectId }),
    flag("--yes", "Skip the confirmation"),
  ];
}

/** Throws UsageError if flags that select many objects are combined with the ID of one, or if neither is given. */
export function assertOneOrMany(
  id: string | undefined,
  flags: BulkFlags,
  { ofMany, missing, example }: { ofMany: boolean; missing: string; example: string },
) {
  const { since, until, type, failed, missed, pending } = flags;
  const many = Object.entries({ since, until, type, failed, missed, pending }).find(([, value]) => value);
  if (id !== undefined && many !== undefined) throw new UsageError(`--${many[0]} cannot be combined with an ID`);
  if (id === undefined && !ofMany) {
    throw new UsageError(missing, { hint: `For example: ${example}` });
  }
}

/**
 * Counts the matching objects, asks for confirmation, starts the operation and shows its progress. The platform
 * continues it after Ctrl-C. Resolves with the number of objects that were retried or replayed. Throws UserError if some
 * could not be.
 */
export async function runBulk({ kind, path, verb, filters, flags }: BulkWork, context: Context): Promise<number> {
  const { output } = context;
  const done = verb === "Retry" ? "retried" : "replayed";
  const body: BulkFilters = {
    ...filters,
    ...(flags.type === undefined ? {} : { type: flags.type }),
    ...(flags.endpoint === undefined ? {} : { endpoint: flags.endpoint }),
    ...(flags.since === undefined ? {} : { created_after: await resolveTime(flags.since, context) }),
    ...(flags.until === undefined ? {} : { created_before: await resolveTime(flags.until, context) }),
  };
  const counted = (total: number) => `${total} ${total === 1 ? nounOf(kind) : nounsOf(kind)}`;
  if (!context.globals.dryRun) {
    const planned = { method: "POST", path, body: { ...body, dry_run: true } } as const;
    const plan = await context.request<BulkOperation>(planned);
    if (plan.total > 0) {
      await confirm(`${verb} ${counted(plan.total)}`, counted(plan.total), flags.yes, context);
    } else {
      output.notice(`No ${nounsOf(kind)} match.`);
      if (filters.status === "failed") await noteListeners(flags, context);
      if (flags.since !== undefined || flags.until !== undefined) await noteClock(context);
      // Programs get an operation with an ID, as from the API.
      if (!output.json) return 0;
    }
  }
  const { idempotencyKey } = flags;
  const started = await context.request<BulkOperation>({ method: "POST", path, body, idempotencyKey });
  const operation = await follow(started, done, context);
  await output.object(operation, BULK_OPERATION);
  if (operation.failed > 0) {
    const reason = operation.last_error ?? "";
    const instead = readInstead(reason)?.command;
    throw new UserError(`${operation.failed} of ${counted(operation.total)} could not be ${done}`, {
      hint: `Last error: ${reason}${instead === undefined ? "" : `\nTo send it: ${instead}`}`,
      code: "bulk_incomplete",
    });
  }
  output.success(`Queued ${counted(operation.done)}${operation.status === "canceled" ? "; then canceled" : ""}`);
  output.note("To see how the receivers respond: service deliveries list");
  return operation.done;
}

/** Says how to resend what failed at a listener that is not connected. */
async function noteListeners({ endpoint, since, until, type }: BulkFlags, context: Context): Promise<void> {
  if (endpoint !== undefined) return;
  const query = { receiver: "listener", status: "failed", limit: 1 };
  const {
    data: [failed],
  } = await context.request<{ data: Delivery[] }>({ method: "GET", path: pathOf("delivery"), query });
  if (failed === undefined) return;
  const given = Object.entries({ since, until, type }).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  const flags = ["--failed", "--forward-to", failed.target ?? "localhost:3000", ...given];
  context.output.notice(
    shellCommand`To resend what failed at a listener, while none runs:\n  service events replay ${flags}`,
  );
}

/** Returns the status in words. An operation only queues: it succeeds once it is through, whatever the receivers do. */
export function shownStatus({ status }: BulkOperation): string {
  return status === "succeeded" ? "finished" : status;
}

/** An age counts in the environment's time, which a person may not expect to be ahead. */
async function noteClock(context: Context): Promise<void> {
  const clock = new EnvironmentClock(context);
  await clock.read();
  if (clock.notice !== undefined) context.output.note(clock.notice);
}

async function confirm(question: string, count: string, yes: true | undefined, context: Context): Promise<void> {
  const { environment } = await context.connection();
  if (environment === "live" && !context.interactive) {
    const consequence = `${count} will be resent`;
    return confirmDestruction(context, { id: count, consequence, yes, live: true });
  }
  if (!asks(context, yes)) return;
  const where = environment === "live" ? "live mode" : "the sandbox";
  const isConfirmed = await context.prompts.confirm({ message: `${question} in ${where}?`, flag: "--yes" });
  if (!isConfirmed) throw new UserError("Nothing was sent", { code: "not_confirmed" });
}

/** Resolves once the operation has ended. After an interrupt, prints how to follow and cancel it. */
async function follow(started: BulkOperation, participle: string, context: Context): Promise<BulkOperation> {
  const { output } = context;
  const progress = output.progress(started.total, participle);
  let operation = started;
  let shown = 0;
  try {
    for (;;) {
      const finished = operation.done + operation.failed;
      progress.advance(finished - shown);
      shown = finished;
      if (operation.status !== "running") return operation;
      await context.sleep(POLL_MILLISECONDS);
      const path = PATH + apiPath`/${started.id ?? ""}`;
      operation = await context.request<BulkOperation>({ method: "GET", path });
    }
  } catch (error) {
    progress.end();
    if (context.signal.aborted) {
      output.notice(
        `${shown} of ${started.total} ${participle}; the platform continues with the rest.\n` +
          shellCommand`See its progress:  service why ${started.id ?? ""}\n` +
          shellCommand`Stop it:           service api POST ${`${PATH}/${started.id}/cancel`}`,
      );
    }
    throw error;
  } finally {
    progress.end();
  }
}

const STATUS: Column<BulkOperation> = {
  ...statusColumn("bulk_operation"),
  text: shownStatus,
  styleOf: (_text, { status, failed }) => (failed > 0 ? "warn" : toneOf("bulk_operation", status)),
};
const TYPE: Column<BulkOperation> = { label: "Type", text: ({ type }) => type };
const FILTERS: Column<BulkOperation> = {
  label: "Filters",
  text: ({ filters }) =>
    Object.entries(filters)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${value}`)
      .join(" "),
};

const BULK_OPERATION: ResourceView<BulkOperation> = {
  noun: nounOf("bulk_operation"),
  fields: memberNamesOf("BulkOperation"),
  details: [
    { label: "ID", text: ({ id }) => id ?? "" },
    STATUS,
    TYPE,
    FILTERS,
    { label: "Total", text: ({ total }) => String(total) },
    { label: "Queued", text: ({ done }) => String(done) },
    { label: "Failed", text: ({ failed }) => String(failed), styleOf: (text) => (text === "0" ? undefined : "bad") },
    { label: "Last error", text: ({ last_error: reason }) => reason ?? "" },
    ENVIRONMENT,
    CREATED_AT,
  ],
};

/** What `--fields` accepts with the flags that select many objects. */
export const BULK_FIELDS: Readonly<Record<string, FieldNames>> = Object.fromEntries(
  ["failed", "missed", "pending", "since", "until"].map((name) => [name, BULK_OPERATION]),
);

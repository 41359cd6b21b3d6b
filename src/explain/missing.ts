import { capitalized } from "../contract/words.ts";
import { type IdKind, timeOfId } from "../contract/ids.ts";
import { nounOf, type ResourceKind } from "../contract/resources.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import type { ListedEvent } from "../contract/schemas/event.ts";
import type { RequestLog } from "../contract/schemas/request-log.ts";
import type { Finding, TimeFormat } from "./finding.ts";

/** What is known about an ID that does not exist. */
export interface Missing {
  id: string;
  kind: IdKind;
  isLive: boolean;
  /** The environment's time, in Unix milliseconds. */
  now: number;
  /** The API request that deleted the object. */
  deletion: RequestLog | undefined;
  /** When the sandbox was last reset or restored, in real time. */
  resetAt: string | null;
  newest: ListedEvent | undefined;
}

/** A chain without what may be around an ID. */
export const NOTHING = {
  request: undefined,
  key: undefined,
  fault: undefined,
  earlier: undefined,
  subject: undefined,
  event: undefined,
  otherEvents: [],
  deliveries: [],
  listed: [],
  endpoints: new Map(),
  changes: new Map(),
  statistics: undefined,
  recovery: undefined,
  outage: undefined,
  nextAttempt: undefined,
  unsent: [],
  operation: undefined,
  missing: undefined,
  clock: undefined,
};

const RETENTION: Record<string, string> = {
  event: "Events and their deliveries are deleted after 30 days",
  delivery: "Events and their deliveries are deleted after 30 days",
  request: "Requests without a valid credential are not retained, others for 7 days",
};

/** Neither a reset nor restoring a snapshot deletes these, unless a reset was asked to remove endpoints. */
const KEPT_BY_RESET: ReadonlySet<IdKind> = new Set(["api_key", "oauth_app", "webhook_endpoint"]);

/** Test clocks are rarely further ahead. */
const LONGEST_ADVANCE_MILLISECONDS = 100 * 365 * 86_400_000;

/**
 * Returns what happened to an ID of which nothing remains, or where else it may be. `show` is the command that looks for
 * it there.
 */
export function ofMissing(
  { id, kind, isLive, now, deletion, resetAt: lastReset, newest }: Missing,
  time: TimeFormat,
  show = shellCommand`service why ${id}`,
): Finding {
  const noun = kind === "request" ? "request" : nounOf(kind as ResourceKind);
  const environment = isLive ? "live mode" : "the sandbox";
  const live = isLive ? " --live" : "";
  if (deletion !== undefined) {
    return {
      code: kind === "webhook_endpoint" ? "endpoint_deleted" : "not_found",
      subject: id,
      summary: `The ${noun} ${id} was deleted from ${environment} at ${time(deletion.created)}`,
      evidence: `Deleted by request ${deletion.id}`,
      action: "See the request that deleted it",
      fix: shellCommand`service logs get ${deletion.id}` + live,
    };
  }
  const created = timeOfId(id);
  const resetAt = KEPT_BY_RESET.has(kind) ? null : lastReset;
  const isExample = created > now + LONGEST_ADVANCE_MILLISECONDS;
  // One from the future is from before the reset, too, which ended the time of the test clock. `now` is a whole second.
  const isReset = resetAt !== null && !isExample && (created <= Date.parse(resetAt) || created >= now + 1000);
  const known = [
    isReset &&
      `The ID was created at ${time(formatTimestamp(created))}. A reset deletes objects, events and logs, and so does restoring a snapshot`,
    isExample &&
      `IDs contain the time of their creation. That of this one is in the year ${new Date(created).getUTCFullYear()}, so it is an example or mistyped`,
    !isReset && !isExample && resetAt !== null && `The sandbox was last reset or restored at ${time(resetAt)}`,
    !isReset && !isExample && RETENTION[kind],
    RETENTION[kind] === undefined || isExample
      ? ""
      : newest === undefined
        ? `${capitalized(environment)} has no events`
        : `The newest event of ${environment} is ${newest.type} at ${time(newest.created)} (${newest.id})`,
  ];
  return {
    code: "not_found",
    subject: id,
    summary: `The ${noun} ${id} does not exist in ${environment}${isReset ? `, which was reset or restored at ${time(resetAt)}` : ""}`,
    evidence: known.filter(Boolean).join(". ") || null,
    ...(isReset
      ? kind === "request"
        ? { action: "See the newest requests", fix: "service logs list" }
        : { action: "See the newest events", fix: "service events list" }
      : isExample
        ? { action: null, fix: null }
        : {
            action: `Look in ${isLive ? "the sandbox, without --live" : "live mode"}`,
            fix: show + (isLive ? "" : " --live"),
          }),
  };
}

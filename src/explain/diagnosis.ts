import { counted } from "../contract/words.ts";
import { lookUp } from "../contract/ids.ts";
import type { BulkOperation } from "../contract/schemas/bulk-operation.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { EXAMPLE_PORT } from "./causes.ts";
import type { Chain } from "./chain.ts";
import { notMeantFor } from "./changes.ts";
import { ofDeliveries, ofDelivery } from "./deliveries.ts";
import { ofEndpoint } from "./endpoint.ts";
import { type Finding, isTrouble, span, type TimeFormat } from "./finding.ts";
import { ofListener } from "./listener.ts";
import { undelivered } from "./listeners.ts";
import { ofMissing } from "./missing.ts";
import { noReceiver } from "./no-receiver.ts";
import { ofRequest, uneventful } from "./request.ts";
import { readInstead, typed } from "./resend.ts";

/** Returns what happened, the most important first; the first one is the answer. */
export function diagnose(read: Chain, time: TimeFormat): Finding[] {
  if (read.missing !== undefined) return [ofMissing(read.missing, time)];
  const chain = untimed(read);
  const findings = [...answersOf(chain, time), ...notesOf(chain)];
  return findings.map(({ code, subject, summary, evidence, action, fix }) => {
    const advice = action && withExample(action, fix);
    const found = { code, subject, summary, evidence };
    if (!chain.isLive) return { ...found, action: advice, fix };
    return {
      ...found,
      action: advice && advice.replace(/(?<=\(after the repair: `)[^`]+/, inLive),
      fix: fix && inLive(fix),
    };
  });
}

/** While the clock advances, what is due there waits only until the advance reaches it: not for a time that can be told. */
function untimed(chain: Chain): Chain {
  const { clock, statistics } = chain;
  if (clock?.status !== "advancing" || statistics === undefined) return chain;
  return { ...chain, statistics: { ...statistics, queue: { ...statistics.queue, oldest_due_seconds: 0 } } };
}

const EXAMPLE = new RegExp(String.raw`--forward-to ${EXAMPLE_PORT}\b`);

/** Returns advice that says so if the port in its command is an example. */
export function withExample(action: string, fix: string | null): string {
  return fix !== null && EXAMPLE.test(fix) ? `${action}, for example on port ${EXAMPLE_PORT}` : action;
}

function inLive(commands: string): string {
  return `${commands.replaceAll(" && service ", " --live && service ")} --live`;
}

function answersOf(chain: Chain, time: TimeFormat): Finding[] {
  const { kind, request, event, operation, deliveries, missingScopes } = chain;
  if (operation !== undefined) return [ofOperation(operation)];
  if (kind === "listener") return ofListener(chain, time);
  if (kind === "webhook_endpoint") return [ofEndpoint(chain, time) ?? []].flat().map(ofSomeDelivery);
  if (kind === "delivery") return [ofDelivery(deliveries[0]!, chain, time)];
  const failure = kind === "request" ? ofRequest(chain, time) : [];
  const isAttempted = deliveries.length > 0 || undelivered(chain, time).length > 0;
  if (isAttempted) return [...failure, ...ofDeliveries(chain, time)];
  if (event !== undefined) {
    const isUnknown = ["deliveries:read", "webhook_endpoints:read"].some((scope) => missingScopes.includes(scope));
    return isUnknown ? failure : [...failure, noReceiver(event, chain, time)];
  }
  if (failure.length > 0) return failure;
  if (kind === "request" && request !== undefined) return [uneventful(request)];
  return missingScopes.includes("events:read") ? [] : [withoutEvent(chain)];
}

/** The number of an attempt counts those of its delivery, which the answer does not name. */
function ofSomeDelivery(finding: Finding): Finding {
  const last = isTrouble(finding) ? "Last failed attempt" : "Last attempt";
  return { ...finding, evidence: finding.evidence && finding.evidence.replace(/(?<=^|\. )Attempt \d+(?= at )/, last) };
}

function withoutEvent({ id }: Chain): Finding {
  const { noun, command } = lookUp(id)!;
  return {
    code: "no_event",
    subject: id,
    summary: `This ${noun} has no events`,
    evidence: "Events are deleted after 30 days",
    action: `Show the ${noun}`,
    fix: command,
  };
}

/** Notes that do not answer the question, but explain how the answer looks. */
function notesOf(chain: Chain): Finding[] {
  const { id, clock, missingScopes, kind, event, deliveries } = chain;
  const notes: Finding[] = [];
  if (missingScopes.length > 0) {
    const flags = missingScopes.flatMap((scope) => ["--scope", scope]);
    notes.push({
      code: "missing_scope",
      subject: id,
      summary: `Part of the explanation is missing: the credential lacks ${missingScopes.join(", ")}`,
      evidence: null,
      action: "Sign in with these scopes",
      fix: shellCommand`service login ${flags}`,
    });
  }
  const others = kind === "delivery" ? undefined : notMeantFor(chain);
  if (others !== undefined) {
    notes.push({ code: "not_subscribed", subject: id, summary: others, evidence: null, action: null, fix: null });
  }
  // Requests and operations have no time of the test clock.
  const isTimed = event !== undefined || deliveries.length > 0 || kind === "webhook_endpoint";
  if (clock === undefined || !isTimed) return notes;
  const ahead = span(clock.offset_seconds * 1000);
  const summary = `Times are on the test clock, now ${ahead} ahead of real time; API requests and connections of listeners show real time`;
  return [...notes, { code: "clock_ahead", subject: id, summary, evidence: null, action: null, fix: null }];
}

const RESENT = {
  "deliveries.retry": ["delivery", "deliveries", "retried", "retry"],
  "events.replay": ["event", "events", "replayed", "replay"],
} as const;

function ofOperation({ id, type, status, done, failed, total, last_error: reason }: BulkOperation): Finding {
  const subject = id ?? "";
  const [singular, plural, participle, again] = RESENT[type];
  if (total === 0 && status !== "running") {
    const summary = `No ${singular} matched the filters, so nothing was ${participle}`;
    return { code: "no_event", subject, summary, evidence: null, action: null, fix: null };
  }
  const evidence = `${done} ${participle}, ${failed} failed, ${total} in total`;
  if (status === "running") {
    const summary = `${done + failed} of ${counted(total, singular, plural)} ${participle} so far`;
    const fix = shellCommand`service why ${subject}`;
    return { code: "bulk_running", subject, summary, evidence, action: "Check again in a moment", fix };
  }
  if (failed > 0) {
    const share =
      failed === total && total === 1 ? `The ${singular}` : `${failed} of ${counted(total, singular, plural)}`;
    const instead = readInstead(reason ?? "");
    const summary = `${share} could not be ${participle}: ${instead?.reason ?? reason ?? ""}`;
    const [, endpoint] = /^The endpoint (we_\w+) is disabled\./.exec(reason ?? "") ?? [];
    const remedy =
      instead !== undefined
        ? remedyWithout(instead, failed)
        : endpoint === undefined
          ? { action: `Check the ${plural}, then ${again} them`, fix: `service ${plural} list` }
          : { action: `Enable the endpoint, then ${again}`, fix: shellCommand`service endpoints enable ${endpoint}` };
    return { code: "delivery_failed", subject, summary, evidence: done === 0 ? null : evidence, ...remedy };
  }
  const summary =
    status === "canceled"
      ? `Canceled after ${done} of ${counted(total, singular, plural)}`
      : `${counted(done, singular, plural)} ${participle}`;
  const code = status === "canceled" ? "delivery_canceled" : "delivered";
  return { code, subject, summary, evidence, action: null, fix: null };
}

/** Returns how to send what no connected listener forwards: a listener can get many deliveries again. */
function remedyWithout({ command, target }: NonNullable<ReturnType<typeof readInstead>>, failed: number) {
  if (failed === 1 || target === undefined) return { action: "Replay the event instead", fix: command };
  const fix = shellCommand`service listen --forward-to ${typed(target)}`;
  return { action: "Start a listener that forwards there, then retry the deliveries", fix };
}

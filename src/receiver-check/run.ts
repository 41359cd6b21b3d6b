import { formatResponse, type Response, isAccepted, isDisconnection, isRejected } from "./exchange.ts";
import { type Check, countsOf, type Finding, type Group, RULES, skipped } from "./check.ts";
import {
  accepting,
  judgeFirst,
  LOAD,
  respondsInTime,
  timeoutOf,
  UnreachableError,
  VALID_DELIVERY,
} from "./checks/accepting.ts";
import { Subject, type SubjectOptions } from "./subject.ts";
import type { Provider } from "./samples.ts";
import { signingMistake } from "./signing-mistake.ts";
import { SCHEMES } from "../webhooks/schemes.ts";
import { duplicates } from "./checks/duplicates.ts";
import { rawBody } from "./checks/raw-body.ts";
import { actsOn } from "./effects.ts";
import { rejecting, UNVERIFIED } from "./checks/rejecting.ts";
import { rotation } from "./checks/rotation.ts";
import { time } from "./checks/time.ts";

/** Returns every check after the first delivery, in the order in which they run. */
function checksOf(provider: Provider): readonly Check[] {
  return [
    ...accepting(provider),
    ...rawBody(provider),
    ...rejecting(provider),
    ...time(provider),
    ...rotation(provider),
    ...duplicates(provider),
    ...LOAD,
  ];
}

/** The result of one check in `--json`. */
export type CheckResult = ReturnType<typeof resultOf>;

type Grade = "A" | "B" | "C" | "D" | "F";

export type ReceiverReport = Awaited<ReturnType<typeof checkReceiver>>;

export interface RunOptions extends SubjectOptions {
  /** Timeout for the receiver to accept its first delivery, for example while it starts or gets its secret. */
  waitMilliseconds: number;
  /** Timeout for the receiver to respond at all, at most as long. */
  reachMilliseconds: number;
  /** How to fix a receiver that rejects every delivery, if its mistake is unknown. */
  rejectedFix: string | undefined;
  /** Called while the first delivery is awaited, with each response that differs from the one before. */
  onWaiting?: ((seen: string) => void) | undefined;
  onResult: (result: CheckResult) => void;
}

export const CHECK_COUNT = checksOf({ scheme: SCHEMES.service, template: undefined }).length + 2;

/** Timeout for a receiver that was fast at first. The provider's own is that of one check only. */
const LATER_LIMIT_MILLISECONDS = 5000;
const MAX_LATER_LIMIT_MILLISECONDS = 10_000;
const RETURN_MILLISECONDS = 5000;
const RETRY_MILLISECONDS = 250;

/** Checks a receiver. Rejects only if `signal` aborts. */
export async function checkReceiver(options: RunOptions) {
  const { clock, url, onResult, provider } = options;
  const started = clock.elapsed();
  const limitMilliseconds = timeoutOf(provider) * 1000;
  const subject = new Subject(options, limitMilliseconds);
  const results: CheckResult[] = [];
  const broken = new Set<string>();
  const add = (check: Omit<Check, "run">, finding: Finding, since: number): void => {
    const result = resultOf(check, finding, provider, clock.elapsed() - since);
    results.push(result);
    if (finding.broken) broken.add(check.id);
    onResult(result);
  };

  const response = await firstResponse(subject, options);
  if (isDisconnection(response)) throw new UnreachableError(response);
  const [valid, inTime] = judgeFirst(response, provider.scheme);
  const mistake = isRejected(response)
    ? ((await signingMistake(subject)) ?? valid.fix ?? options.rejectedFix)
    : undefined;
  add(VALID_DELIVERY, mistake === undefined ? valid : { ...valid, fix: mistake }, started);
  add(respondsInTime(provider), inTime, started);
  const seconds = Math.ceil((LATER_LIMIT_MILLISECONDS + 3 * response.milliseconds) / 1000);
  subject.limitMilliseconds = Math.min(seconds * 1000, Math.max(limitMilliseconds, MAX_LATER_LIMIT_MILLISECONDS));
  let obstacle = isAccepted(response) ? undefined : "Skipped: the receiver did not accept a valid delivery";

  const checks = checksOf(provider);
  for (const batch of batches(checks)) {
    const since = clock.elapsed();
    if (obstacle !== undefined) {
      for (const check of batch) add(check, inapplicable(check) ?? skipped("Nothing", obstacle), since);
      continue;
    }
    const { findings, survived } = await runBatch(batch, subject);
    const verifiesNothing = batch.some(({ id }, i) => id === "wrong-secret" && findings[i]!.accepted);
    const texts = verifiesNothing ? await textsOfAccepted(batch, findings, subject) : undefined;
    for (const [i, check] of batch.entries()) add(check, { ...findings[i]!, ...texts?.get(check) }, since);
    if (!survived) {
      const titles = batch.filter((_, i) => findings[i]!.disconnected).map(({ title }) => `"${title}"`);
      obstacle = `Skipped: the receiver has not responded since ${titles.join(", ")}`;
    }
  }
  return {
    object: "receiver_check",
    url: url.href,
    /** True if no required check failed. */
    passed: !results.some(({ level, status }) => level === "required" && status === "failed"),
    ...gradeOf(results, checks, broken),
    counts: countsOf(results),
    duration_ms: Math.round(clock.elapsed() - started),
    checks: results,
  };
}

function inapplicable({ notApplicable }: Check): Finding | undefined {
  return notApplicable ? { status: "not_applicable", sent: "Nothing", seen: notApplicable } : undefined;
}

/**
 * Runs adjacent checks concurrently. Those whose connection failed are repeated alone, because another one may have
 * crashed the receiver for a moment.
 */
async function runBatch(
  batch: readonly Check[],
  subject: Subject,
): Promise<{ findings: Finding[]; survived: boolean }> {
  const findings = await Promise.all(batch.map(async (check) => inapplicable(check) ?? (await check.run(subject))));
  for (const [i, check] of batch.entries()) {
    if (!findings[i]!.disconnected) continue;
    if (!(await isThere(subject))) return { findings, survived: false };
    if (batch.length === 1) break;
    findings[i] = await check.run(subject);
    if (findings[i].disconnected && !(await isThere(subject))) return { findings, survived: false };
  }
  return { findings, survived: true };
}

/** Returns the texts of checks whose deliveries get 2xx from a receiver that seems to verify nothing. */
async function textsOfAccepted(
  batch: readonly Check[],
  findings: readonly Finding[],
  subject: Subject,
): Promise<Map<Check, Partial<Finding>>> {
  const texts = new Map<Check, Partial<Finding>>();
  const accepted = batch.filter((_, i) => findings[i]!.accepted);
  for (const group of ["Rejecting", "Time"] satisfies Group[]) {
    const checks = accepted.filter((check) => check.group === group);
    const acts = await actsOn(checks, subject);
    const text = acts === undefined ? UNVERIFIED.unknown : acts ? UNVERIFIED.processed : UNVERIFIED.dropped;
    // A valid signature that is too old says nothing about others.
    if (group === "Rejecting" || acts === false) for (const check of checks) texts.set(check, text);
  }
  return texts;
}

/** Delivers one event until it is accepted, or the time is over. */
async function firstResponse(
  subject: Subject,
  { clock, waitMilliseconds, reachMilliseconds, onWaiting }: RunOptions,
): Promise<Response> {
  const sample = subject.sample();
  const started = clock.elapsed();
  let isReached = false;
  let lastAnswer: string | undefined;
  for (let attempt = 1; ; attempt++) {
    const response = await subject.deliver(sample, { attempt });
    isReached ||= !isDisconnection(response);
    const limit = isReached ? waitMilliseconds : Math.min(waitMilliseconds, reachMilliseconds);
    const left = started + limit - clock.elapsed();
    if (isAccepted(response) || left <= 0) return response;
    const { status, failure, excerpt } = response;
    const answer = `${status} ${excerpt} ${failure?.message}`;
    if (answer !== lastAnswer) onWaiting?.(formatResponse(response));
    lastAnswer = answer;
    await clock.sleep(Math.min(RETRY_MILLISECONDS, left));
  }
}

/** Returns true if the receiver responds, or does so again soon: watchers restart what has crashed. */
async function isThere(subject: Subject): Promise<boolean> {
  const { clock } = subject;
  const started = clock.elapsed();
  for (;;) {
    if (!isDisconnection(await subject.deliver(subject.sample()))) return true;
    if (clock.elapsed() - started > RETURN_MILLISECONDS) return false;
    await clock.sleep(RETRY_MILLISECONDS);
  }
}

/** Groups adjacent checks that can run concurrently; every other check runs alone. */
function batches(checks: readonly Check[]): Check[][] {
  const batches: Check[][] = [];
  for (const check of checks) {
    const last = batches.at(-1);
    if (check.together === true && last?.[0]?.together === true) last.push(check);
    else batches.push([check]);
  }
  return batches;
}

function resultOf(check: Omit<Check, "run">, finding: Finding, { scheme }: Provider, milliseconds: number) {
  const { id, title, group, level } = check;
  const { status, sent, seen } = finding;
  const failed = status === "failed";
  return {
    id,
    title,
    group,
    rule: scheme.docs ?? RULES[group],
    level,
    status,
    sent,
    seen,
    /** The meaning of the failure and its fix; null if it passed. */
    explanation: failed ? (finding.explanation ?? check.explanation) : null,
    fix: failed ? (finding.fix ?? check.fix) : null,
    duration_ms: Math.round(milliseconds),
  };
}

/** Maximum number of failed required checks for a C. */
const FEW = 2;

/**
 * Returns the grade and its reason. `checks` contains the meaning of failures; `broken` are those in which the receiver
 * accepted nothing, but failed instead of rejecting it: one mistake, and no forgery.
 */
function gradeOf(
  results: readonly CheckResult[],
  checks: readonly Check[],
  broken: ReadonlySet<string>,
): { grade: Grade; verdict: string } {
  const forgeries = new Set(checks.filter(({ forgery }) => forgery).map(({ id }) => id));
  const optional = new Set(checks.filter(({ optional }) => optional).map(({ id }) => id));
  const failed = results.filter(({ status }) => status === "failed");
  const isFailedFor = (text: (typeof UNVERIFIED)[keyof typeof UNVERIFIED]): boolean =>
    failed.some(({ explanation }) => explanation === text.explanation);
  const allRequired = failed.filter(({ level }) => level === "required");
  const required = allRequired.filter(({ id }) => !broken.has(id));
  const skipped = results.filter(({ status }) => status === "skipped");
  const unjudged = skipped.filter(({ id }) => !optional.has(id)).length;
  if (results[1]?.status === "failed") return { grade: "F", verdict: "The receiver does not respond in time." };
  if (results[0]?.status !== "passed") return { grade: "F", verdict: "The receiver does not accept valid deliveries." };
  if (isFailedFor(UNVERIFIED.processed)) {
    return { grade: "F", verdict: "The receiver processes deliveries signed with any secret." };
  }
  if (isFailedFor(UNVERIFIED.unknown)) {
    return { grade: "F", verdict: "The receiver responds with 2xx to signatures made with any secret." };
  }
  if (required.some(({ id }) => forgeries.has(id))) {
    return { grade: "F", verdict: "The receiver accepts deliveries that it must reject." };
  }
  const mistakes = required.length + (broken.size > 0 ? 1 : 0);
  if (mistakes > FEW) return { grade: "D", verdict: `${allRequired.length} required checks failed.` };
  if (broken.size > 0 && required.length === 0) {
    const verdict = isFailedFor(UNVERIFIED.dropped)
      ? "The receiver processes no forged delivery, but responds with 2xx instead of rejecting it."
      : "The receiver accepts no forged delivery, but fails instead of rejecting it.";
    return { grade: "C", verdict };
  }
  if (required.length > 0) {
    const count = allRequired.length;
    return { grade: "C", verdict: `${count} required check${count === 1 ? "" : "s"} failed.` };
  }
  if (failed.length > 0) return { grade: "B", verdict: "Every required check passed; an advisory one did not." };
  if (unjudged > 0) {
    const more = unjudged === 1 ? "1 more check must run: it says" : `${unjudged} more checks must run: each says`;
    return { grade: "B", verdict: `No mistake was found. For an A, ${more} what it needs.` };
  }
  const verdict =
    skipped.length === 0 ? "All checks passed." : "All other checks passed: the skipped one does not affect the grade.";
  return { grade: "A", verdict };
}

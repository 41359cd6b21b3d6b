import { timeOfId } from "../../../../contract/ids.ts";
import type { RequestLogDetail } from "../../../../contract/schemas/request-log.ts";
import { counted } from "../../../../contract/words.ts";
import type { Status } from "../../../../receiver-check/check.ts";
import type { Check } from "../../../terminal/check-report.ts";

/** The requests of one run of the command, in order, and the exit code of the command. */
export interface Run {
  requests: readonly RequestLogDetail[];
  exitCode: number;
  seed: number;
}

interface Rule {
  id: string;
  title: string;
  group: string;
  explanation: string;
  fix: string;
  judge: (run: Run) => Verdict;
  /** Which requests the rule is about, and what is said of a command that sends none (default: all requests). */
  about?: { isIncluded: (request: Request) => boolean; none: string };
}

/** The result of a rule in one run: how often it was tested, and each violation. */
interface Verdict {
  tested: number;
  broken: string[];
}

type Request = RequestLogDetail;

const FAULTS = "docs/faults.md#check-a-client";
const RETRY_AFTER_MS = 1000;
/** Covers clock differences and network latency between the client and the platform. */
const TOLERANCE_MS = 50;
/** Number of retries after which a client may give up. */
const PATIENCE = 3;
const REJECTED = new Set([400, 422]);
const POSTS = { isIncluded: ({ method }: Request) => method === "POST", none: "The command sent no POST" };
// The client did not see a response that was dropped.
const isRejected = ({ status, fault }: Request) => REJECTED.has(status) && !isCut(fault);

const RULES: readonly Rule[] = [
  {
    id: "retries-errors",
    title: "Retries after 429, 500, 502 and 503",
    group: "Retries",
    explanation: "These responses say that the request may succeed later. A client that gives up loses it.",
    fix: "Send the request again, with the same Idempotency-Key, a few times with growing waits.",
    judge: (run) => judgeRetries(run, ({ fault }) => fault?.effect === "status"),
  },
  {
    id: "retries-connections",
    title: "Retries after a closed connection",
    group: "Retries",
    explanation: "Connections break. The request may have taken effect or not, and only a retry finds out.",
    fix: "Treat a closed connection and a truncated response like a 503.",
    judge: (run) => judgeRetries(run, ({ fault }) => isCut(fault)),
  },
  {
    id: "waits",
    title: "Waits as long as Retry-After says",
    group: "Retries",
    explanation: "A client that retries sooner keeps an overloaded API overloaded.",
    fix: "After a 429 or 503 with Retry-After, wait that many seconds before the retry.",
    judge(run) {
      const pairs = run.requests
        .filter(({ fault, status }) => fault?.effect === "status" && (status === 429 || status === 503))
        .map((request) => [request, attemptsAfter(run, request)] as const)
        .filter(([, attempts]) => attempts.length > 0);
      const broken = pairs.flatMap(([request, attempts]) => {
        // Measured from its start, because a busy platform may record late that the client has the response.
        const waits = attempts.map((attempt) => timeOfId(attempt.id) - timeOfId(request.id));
        // Without a key, the first retry may come from another caller.
        const isBroken = request.idempotency_key === null ? waits.every(isEarly) : isEarly(waits[0]!);
        if (!isBroken) return [];
        return [
          `${nameOf(request)} got ${request.status} with Retry-After: 1, and came again after ${waits[0]} ms (${attempts[0]!.id})`,
        ];
      });
      return { tested: pairs.length, broken };
    },
  },
  {
    id: "no-retry-of-400",
    title: "Does not retry a 400",
    group: "Retries",
    explanation: "The same request is rejected again, however often it is sent.",
    fix: "Retry 429 and 5xx only; report other errors to the caller.",
    about: { isIncluded: isRejected, none: "The command sent no invalid request" },
    judge(run) {
      const rejected = run.requests.filter(isRejected);
      const broken = rejected.flatMap((request) =>
        attemptsAfter(run, request)
          .slice(0, 1)
          .map((retry) => `${nameOf(request)} got ${request.status}, and came again (${retry.id})`),
      );
      return { tested: rejected.length, broken };
    },
  },
  {
    id: "sends-key",
    title: "Sends an Idempotency-Key with every POST",
    group: "Idempotency",
    explanation: "Without a key, a retry cannot be told from a second order.",
    fix: "Send a new Idempotency-Key (a UUID) with each POST, and the same one with its retries.",
    about: POSTS,
    judge(run) {
      const posts = run.requests.filter(POSTS.isIncluded);
      const broken = posts
        .filter(({ idempotency_key: key }) => key === null)
        .map((request) => `${nameOf(request)} had no Idempotency-Key`);
      return { tested: posts.length, broken };
    },
  },
  {
    id: "creates-once",
    title: "Creates nothing twice when a response is lost",
    group: "Idempotency",
    explanation: "The first request took effect, although its response was lost. The retry took effect again.",
    fix: "Retry with the Idempotency-Key of the first request: the response is then that of the first one.",
    about: POSTS,
    judge(run) {
      const lost = run.requests.filter(
        ({ method, status, fault }) => method === "POST" && status < 300 && fault?.effect === "lose_response",
      );
      const broken = lost.flatMap((request) =>
        retryOf(run, request)
          .filter(
            ({ status, response_headers: headers }) => status < 300 && headers?.["idempotent-replayed"] === undefined,
          )
          .map((retry) => `${nameOf(request)} took effect, and so did its retry ${retry.id}`),
      );
      return { tested: lost.length, broken };
    },
  },
  {
    id: "succeeds",
    title: "Succeeds despite the faults",
    group: "Result",
    explanation: "Each fault was followed by requests without one, so that a client that retries succeeds.",
    fix: "Fix the other failures first. Then run the command with the seed, and read its output.",
    judge: ({ exitCode, seed }) => ({
      tested: 1,
      broken: exitCode === 0 ? [] : [`The command exited with ${exitCode} (seed ${seed})`],
    }),
  },
];

/** The groups of the rules, in the order of the report. */
export const GROUPS: readonly string[] = [...new Set(RULES.map(({ group }) => group))];

/** Returns the result of each rule over all runs. */
export function judgeRuns(runs: readonly Run[]): Check[] {
  return RULES.map(({ judge, explanation, fix, about, ...rule }) => {
    const verdicts = runs.map(judge);
    const tested = verdicts.reduce((sum, verdict) => sum + verdict.tested, 0);
    const broken = verdicts.flatMap((verdict) => verdict.broken);
    const applies = about === undefined || runs.some(({ requests }) => requests.some(about.isIncluded));
    const untested = applies ? "skipped" : "not_applicable";
    const status: Status = tested === 0 ? untested : broken.length === 0 ? "passed" : "failed";
    const more = broken.length > 1 ? `, and ${broken.length - 1} more` : "";
    return {
      ...rule,
      rule: FAULTS,
      level: "required",
      status,
      sent: counted(tested, "case"),
      seen:
        broken.length > 0
          ? broken[0]! + more
          : tested > 0
            ? `${tested} of ${tested}`
            : applies
              ? "No request met such a fault, or none was retried after it. For other faults, pass --runs 10"
              : about.none,
      explanation: status === "failed" ? explanation : null,
      fix: status === "failed" ? fix : null,
      duration_ms: 0,
    };
  });
}

function judgeRetries(run: Run, isFaulty: (request: Request) => boolean): Verdict {
  const faulty = run.requests.filter(isFaulty);
  const broken = faulty
    .filter((request) => retryOf(run, request).length === 0 && attemptsBefore(run, request) < PATIENCE)
    .map((request) => {
      const { fault, status } = request;
      const outcome = isCut(fault) ? `a closed connection (${fault!.effect})` : status;
      return `${nameOf(request)} got ${outcome}, and did not come again`;
    });
  return { tested: faulty.length, broken };
}

/** Returns the next attempt of a request, or one that may be: the same request with another Idempotency-Key. */
function retryOf(run: Run, request: Request): Request[] {
  const [attempt = sameAfter(run, request)[0]] = attemptsAfter(run, request);
  return attempt === undefined ? [] : [attempt];
}

/** Returns the later attempts of a request: those with the same Idempotency-Key or, like it, without one. */
function attemptsAfter(run: Run, request: Request): Request[] {
  return sameAfter(run, request).filter(({ idempotency_key: key }) => key === request.idempotency_key);
}

function attemptsBefore({ requests }: Run, request: Request): number {
  return requests.filter((other) => other.id < request.id && isAlike(other, request)).length;
}

/** Returns the later requests with the same method, path, query and body. */
function sameAfter({ requests }: Run, request: Request): Request[] {
  return requests.filter((other) => other.id > request.id && isAlike(other, request));
}

function isAlike(one: Request, other: Request): boolean {
  return contentOf(one) === contentOf(other);
}

function contentOf({ method, path, query, request_body: body }: Request): string {
  return JSON.stringify([method, path, query, body]);
}

function isCut(fault: Request["fault"]): boolean {
  return fault !== null && fault.effect !== "status" && fault.effect !== "delay";
}

function isEarly(wait: number): boolean {
  return wait < RETRY_AFTER_MS - TOLERANCE_MS;
}

function nameOf({ method, path, id }: Request): string {
  return `${method} ${path} (${id})`;
}

import type { Client } from "../client/http.ts";
import { ApiError } from "../client/errors.ts";
import { ID_PREFIXES, kindOfId, nounOfId } from "../contract/ids.ts";
import { kindsWith, pathOf, withArticle } from "../contract/resources.ts";
import type { RequestLog } from "../contract/schemas/request-log.ts";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import { listed } from "../contract/words.ts";
import { type ChainApi, EXPLAINED, explainedKind, readChain } from "../explain/chain.ts";
import { diagnose } from "../explain/diagnosis.ts";
import { type Finding, sentence } from "../explain/finding.ts";
import { isOfReset, ofMissing } from "../explain/missing.ts";
import { EXIT_CODES, UserError } from "./errors.ts";
import { mapTexts } from "./terminal/json.ts";

/** An explanation in the format of `--json` and the MCP tool. */
export type Explanation = Awaited<ReturnType<typeof explain>>["explanation"];

interface ExplainOptions {
  /** Returns text in which each command works in the user's shell. */
  runnable: (text: string) => string;
  /** Where the user's application receives events. */
  target?: string | undefined;
}

/** Reads the chain of an ID and finds the likely cause. Throws UserError for an ID of a kind that has no explanation. */
export async function explain(client: Client, id: string, { runnable, target }: ExplainOptions) {
  const kind = explainedKind(id);
  if (kind === undefined) throw notExplained(id);
  const chain = { ...(await readChain(apiOf(client), id, kind)), target };
  const findings = mapTexts(
    diagnose(chain, (timestamp) => timestamp),
    runnable,
  );
  if (findings[0]?.code === "not_found") throw notFound(findings[0]);
  const explanation = {
    object: "explanation",
    id,
    kind: chain.kind,
    cause: findings[0]?.code ?? null,
    findings,
    request: chain.request ?? null,
    subject: chain.subject ?? null,
    event: chain.event ?? null,
    deliveries: chain.deliveries,
    operation: chain.operation ?? null,
  };
  return { chain, explanation };
}

/** Returns that a missing object was deleted or reset, and how to see more; undefined if nothing is known about it. */
export async function removalOf(client: Client, id: string, isLive: boolean): Promise<string | undefined> {
  const kind = kindsWith("command").find((one) => one === kindOfId(id));
  if (kind === undefined) return undefined;
  const api = apiOf(client);
  const query = new URLSearchParams({ path: `${pathOf(kind)}/${id}`, method: "DELETE", status: "2xx", limit: "1" });
  const [deletions, clock] = await Promise.all([
    api.get(`${pathOf("request_log")}?${query.toString()}`) as Promise<{ data: RequestLog[] }>,
    isLive ? undefined : (api.get(pathOf("test_clock")) as Promise<TestClock>),
  ]);
  const [deletion] = deletions.data;
  const now = clock === undefined ? Date.now() : Date.parse(clock.now);
  const missing = { id, kind, isLive, now, deletion, resetAt: clock?.reset_at ?? null, newest: undefined };
  if (deletion === undefined && !isOfReset(missing)) return undefined;
  const { summary, action, fix } = ofMissing(missing, (timestamp) => timestamp);
  return `It${summary.slice(summary.indexOf(id) + id.length)}.\n${action}: ${fix}`;
}

export function apiOf(client: Client): ChainApi {
  return {
    get: async (path) => (await client.request<unknown>({ method: "GET", path })).body,
    problemOf: (error) =>
      error instanceof ApiError
        ? { status: error.status, code: error.code, requiredScope: error.problem["required_scope"] }
        : undefined,
  };
}

function notFound({ summary, evidence, action, fix }: Finding): UserError {
  const hint = [evidence === null ? null : sentence(evidence), fix === null ? null : `${action}: ${fix}`];
  return new UserError(summary, {
    hint: hint.filter((line) => line !== null).join("\n"),
    exitCode: EXIT_CODES.notFound,
    code: "not_found",
  });
}

function notExplained(id: string): UserError {
  const kind = kindOfId(id);
  const kinds = EXPLAINED.map((known) => `${withArticle(nounOfId(known))} (${ID_PREFIXES[known]}…)`);
  const problem =
    kind === undefined
      ? malformed(id)
      : `\`service why\` does not support ${nounOfId(kind)} IDs (${ID_PREFIXES[kind]})`;
  return new UserError(problem, {
    hint: `Pass the ID of ${listed(kinds, "or")}.`,
    exitCode: EXIT_CODES.usage,
    code: "invalid_id",
  });
}

function malformed(id: string): string {
  const meant = EXPLAINED.find((kind) => id.startsWith(ID_PREFIXES[kind]));
  const problem = `"${id}" is not an ID`;
  if (meant === undefined) return problem;
  return `${problem}: ${withArticle(nounOfId(meant))} ID is ${ID_PREFIXES[meant]} and 22 letters or digits`;
}

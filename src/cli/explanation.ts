import type { Client } from "../client/http.ts";
import { ApiError } from "../client/errors.ts";
import { ID_PREFIXES, kindOfId, lookUp, nounOfId } from "../contract/ids.ts";
import { withArticle } from "../contract/resources.ts";
import { listed } from "../contract/words.ts";
import { type ChainApi, EXPLAINED, explainedKind, readChain, readMissing } from "../explain/chain.ts";
import { diagnose } from "../explain/diagnosis.ts";
import { type Finding, sentence, type TimeFormat } from "../explain/finding.ts";
import { ofMissing } from "../explain/missing.ts";
import { EXIT_CODES, UserError } from "./errors.ts";
import { mapTexts } from "./terminal/json.ts";

/** An explanation in the format of `--json` and the MCP tool. */
export type Explanation = Awaited<ReturnType<typeof explain>>["explanation"];

interface ExplainOptions {
  /** Returns text in which each command works in the user's shell. */
  runnable: (text: string) => string;
  /** Where the user's application receives events. */
  target?: string | undefined;
  /** Writes times (default: as the API does). */
  time?: TimeFormat;
}

/** Reads the chain of an ID and finds the likely cause. Throws UserError for an ID of a kind that has no explanation. */
export async function explain(
  client: Client,
  id: string,
  { runnable, target, time = (timestamp) => timestamp }: ExplainOptions,
) {
  const kind = explainedKind(id);
  if (kind === undefined) throw notExplained(id);
  const chain = { ...(await readChain(apiOf(client), id, kind)), target };
  const diagnosis = diagnose(chain, time);
  if (diagnosis[0]?.code === "not_found") throw notFound(diagnosis[0]);
  const findings = mapTexts(diagnosis, runnable);
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

/** Replaces the message and hint of an error about a missing ID with what is known about it. */
export async function explainMissing(error: ApiError, client: Client): Promise<void> {
  const [, id = ""] = /(\w+)"? does not exist/.exec(error.message) ?? [];
  const kind = kindOfId(id);
  if (kind === undefined) return;
  const found = lookUp(id);
  const isOfOtherKind = error.message.includes("This is the ID of");
  const missing = isOfOtherKind ? undefined : await readMissing(apiOf(client), id, kind);
  if (missing === undefined) {
    error.hint = found && `To show the ${found.noun}: ${found.command}`;
    return;
  }
  const finding = ofMissing(missing, (timestamp) => timestamp, found?.command);
  if (error.status === 404) error.message = finding.summary;
  error.hint = hintOf(finding);
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

function notFound(finding: Finding): UserError {
  return new UserError(finding.summary, {
    hint: hintOf(finding),
    exitCode: EXIT_CODES.notFound,
    code: "not_found",
  });
}

function hintOf({ evidence, action, fix }: Finding): string {
  const isRepeated = fix?.startsWith("service logs get ") === true;
  const lines = [evidence === null || isRepeated ? [] : sentence(evidence), fix === null ? [] : `${action}: ${fix}`];
  return lines.flat().join("\n");
}

function notExplained(id: string): UserError {
  const kind = kindOfId(id);
  const found = lookUp(id);
  const kinds = EXPLAINED.map((known) => `${withArticle(nounOfId(known))} (${ID_PREFIXES[known]}…)`);
  const problem =
    kind === undefined
      ? malformed(id)
      : `\`service why\` does not support ${nounOfId(kind)} IDs (${ID_PREFIXES[kind]})`;
  return new UserError(problem, {
    hint:
      found === undefined ? `Pass the ID of ${listed(kinds, "or")}.` : `To show the ${found.noun}: ${found.command}`,
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

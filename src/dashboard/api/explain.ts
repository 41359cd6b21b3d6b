import { type Chain, type ChainApi, explainedKind, readChain } from "../../explain/chain.ts";
import { diagnose } from "../../explain/diagnosis.ts";
import { type Finding, sentence, type TimeFormat } from "../../explain/finding.ts";
import { receiverOfEndpoint } from "../../explain/receivers.ts";

/** What happened around an ID, in the words of `service why`. */
export interface Explanation {
  chain: Chain;
  /** The first one is the answer. */
  findings: readonly Finding[];
  /** The beginning of the answer, which says what happened: the rest of a long sentence is not. */
  headline: string;
}

/** Reads what happened around an ID. Returns undefined for an ID that cannot be explained. */
export async function explain(api: ChainApi, id: string, time: TimeFormat): Promise<Explanation | undefined> {
  const kind = explainedKind(id);
  if (kind === undefined) return undefined;
  const chain = await readChain(api, id, kind);
  const findings = diagnose(chain, time);
  return { chain, findings, headline: headlineOf(findings[0], chain) };
}

/** Returns a sentence up to its first semicolon or parenthesis that is not in a name or quotation. */
function headlineOf(finding: Finding | undefined, { endpoints, key }: Chain): string {
  const text = sentence(finding?.summary ?? "");
  const receivers = [...endpoints.values()].flatMap((endpoint) =>
    endpoint ? [receiverOfEndpoint(endpoint).name] : [],
  );
  const names = [...receivers, key?.name ?? "", ...(text.match(/"[^"]*"/g) ?? [])].filter(Boolean);
  const masked = names.reduce((rest, name) => rest.replaceAll(name, "x".repeat(name.length)), text);
  const end = masked.search(/;| \(/);
  return end === -1 ? text : text.slice(0, end);
}

export { newestFailure } from "../../explain/newest-failure.ts";

import { type Chain, type ChainApi, explainedKind, readChain } from "../../explain/chain.ts";
import { diagnose } from "../../explain/diagnosis.ts";
import type { Finding, TimeFormat } from "../../explain/finding.ts";

/** What happened around an ID, in the words of `service why`. */
export interface Explanation {
  chain: Chain;
  /** The first one is the answer. */
  findings: readonly Finding[];
}

/** Reads what happened around an ID. Returns undefined for an ID that cannot be explained. */
export async function explain(api: ChainApi, id: string, time: TimeFormat): Promise<Explanation | undefined> {
  const kind = explainedKind(id);
  if (kind === undefined) return undefined;
  const chain = await readChain(api, id, kind);
  return { chain, findings: diagnose(chain, time) };
}

export { newestFailure } from "../../explain/newest-failure.ts";

import type { Client } from "../../../client/http.ts";
import { type Chain, readChain } from "./chain.ts";
import { diagnose, type Finding, type FindingCode } from "./diagnosis.ts";

/** An explanation as `--json` and the MCP tool have it. */
export interface Explanation {
  object: "explanation";
  id: string;
  kind: string;
  /** The code of the first finding. */
  cause: FindingCode | null;
  findings: Finding[];
  request: Chain["request"] | null;
  subject: Chain["subject"] | null;
  event: Chain["event"] | null;
  deliveries: Chain["deliveries"];
  operation: Chain["operation"] | null;
}

/** Reads the chain of an ID and finds the likely cause. */
export async function explain(client: Client, id: string): Promise<{ chain: Chain; explanation: Explanation }> {
  const chain = await readChain(client, id);
  const findings = diagnose(chain);
  const explanation: Explanation = {
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

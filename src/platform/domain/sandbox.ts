import type { Sandbox, SandboxReset } from "../../contract/schemas/sandbox.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Transaction } from "../storage/database.ts";
import { findEnvironment, SandboxResetError } from "../storage/environments.ts";
import { replaceSandbox } from "../storage/sandboxes.ts";
import { moveEndpoints } from "../storage/webhook-endpoints.ts";
import type { Tenant } from "./request-context.ts";

/**
 * Starts a sandbox again, in real time. Requires the isolation `read committed`. Throws SandboxResetError if another
 * request resets it at the same time. `now` is real time.
 */
export async function resetSandbox(
  tx: Transaction,
  tenant: Tenant,
  { endpoints = "keep" }: SandboxReset,
  now: number,
): Promise<Sandbox> {
  const former = await findEnvironment(tx, tenant.environment);
  const sandbox = await replaceSandbox(tx, tenant.account.id, { former, at: now, offset: 0 });
  if (sandbox === undefined) throw new SandboxResetError();
  if (endpoints === "keep") await moveEndpoints(tx, former.id, sandbox);
  tx.notify("events");
  tx.notify("deliveries");
  return { object: "sandbox", reset_at: formatTimestamp(now), livemode: false };
}

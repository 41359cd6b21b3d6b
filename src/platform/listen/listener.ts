import { formatSigningSecret } from "../../contract/credentials.ts";
import type { Caller } from "../http/caller.ts";
import type { Services } from "../services.ts";
import { findListener, keepListener, type ListenerRow } from "../storage/listeners.ts";

/** A listener is noted as seen once in so long, not at every connection. */
const COARSENESS_MILLISECONDS = 86_400_000;

/**
 * The listener of an account, user and device name, with its signing secret: made at the first connection and the same
 * ever after, so that a receiver is set up once. An API key stands for its account.
 */
export async function openListener(
  services: Services,
  caller: Caller,
  device: string,
): Promise<{ id: string; secret: string }> {
  const { database, vault, clock } = services;
  const opened = ({ id, secret }: ListenerRow) => ({ id, secret: vault.open(secret, id) });
  const environment = caller.tenant.environment;
  const owner = caller.user?.id ?? caller.tenant.account.id;
  const now = clock.now();
  const known = await findListener(database, environment, owner, device);
  if (known !== undefined && now - (known.seen_at ?? 0) < COARSENESS_MILLISECONDS) return opened(known);
  const row = { ...(known ?? newListener(services, { environment, owner, device }, now)), seen_at: now };
  // Read again: another process may have made it at the same moment.
  const kept = await database.write(async (tx) => {
    await keepListener(tx, row);
    return findListener(tx, environment, owner, device);
  });
  return opened(kept!);
}

function newListener(
  { vault, random, newId }: Services,
  place: Pick<ListenerRow, "environment" | "owner" | "device">,
  created: number,
): Omit<ListenerRow, "seen_at"> {
  const id = newId("listener", created);
  return { ...place, id, secret: vault.seal(formatSigningSecret(random.bytes(32)), id), created };
}

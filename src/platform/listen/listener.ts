import { formatSigningSecret } from "../../contract/credentials.ts";
import type { Caller } from "../http/caller.ts";
import type { Services } from "../services.ts";
import { findListener, insertListener } from "../storage/listeners.ts";

/**
 * The listener of an account, user and device name, with its signing secret: made at the first connection and the same
 * ever after, so that a receiver is set up once. An API key stands for its account.
 */
export async function openListener(
  { database, vault, random, clock, newId }: Services,
  caller: Caller,
  device: string,
): Promise<{ id: string; secret: string }> {
  const environment = caller.tenant.environment;
  const owner = caller.user?.id ?? caller.tenant.account.id;
  const known = await findListener(database, environment, owner, device);
  if (known !== undefined) return { id: known.id, secret: vault.open(known.secret, known.id) };
  const created = clock.now();
  const id = newId("listener", created);
  const sealed = vault.seal(formatSigningSecret(random.bytes(32)), id);
  const row = await database.write(async (tx) => {
    await insertListener(tx, { id, environment, owner, device, secret: sealed, created });
    return findListener(tx, environment, owner, device);
  });
  return { id: row!.id, secret: vault.open(row!.secret, row!.id) };
}

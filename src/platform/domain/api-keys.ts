import { type CredentialPrefix, formatCredential } from "../../contract/credentials.ts";
import type { Environment } from "../../contract/environments.ts";
import { SCOPES } from "../../contract/scopes.ts";
import type { Random } from "../ports.ts";
import { insertApiKey } from "../storage/api-keys.ts";
import type { Transaction } from "../storage/database.ts";
import type { Vault } from "../vault.ts";

const DISPLAY_PREFIX_LENGTH = 12;

/** Makes a full key and stores its digest alone; answers the key, which is never to be had again (decisions 6). */
export async function createFullKey(
  tx: Transaction,
  tools: { vault: Vault; random: Random },
  key: { id: string; environment: number; environmentName: Environment; name: string; now: number },
): Promise<string> {
  const prefix: CredentialPrefix = key.environmentName === "live" ? "sk_live_" : "sk_sandbox_";
  const secret = formatCredential(prefix, tools.random.bytes(32));
  await insertApiKey(tx, {
    id: key.id,
    environment: key.environment,
    name: key.name,
    digest: tools.vault.digest(secret),
    kind: "secret_key",
    prefix: secret.slice(0, DISPLAY_PREFIX_LENGTH),
    last4: secret.slice(-4),
    scopes: JSON.stringify(SCOPES),
    ip_allowlist: "[]",
    expires_at: null,
    last_used: null,
    revoked_at: null,
    created: key.now,
  });
  return secret;
}

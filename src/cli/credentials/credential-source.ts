import type { RefreshContext, CredentialName } from "./refresh.ts";
import { isDue, type StoredCredential } from "../settings/profiles.ts";
import type { CredentialSource } from "../../client/http.ts";

/**
 * Returns a stored credential as the client uses it. An API key stays as it is. Tokens are renewed shortly before they
 * expire and after a 401, under a lock that all processes share.
 */
export function credentialSource(
  context: RefreshContext,
  stored: StoredCredential,
  name: CredentialName,
): string | CredentialSource {
  if (stored.type === "api_key") return stored.api_key;
  let tokens = stored;
  let renewal: Promise<string> | undefined;

  /** Concurrent requests share one renewal. */
  function renew(rejected?: string): Promise<string> {
    renewal ??= refresh(rejected).finally(() => {
      renewal = undefined;
    });
    return renewal;
  }

  async function refresh(rejected: string | undefined): Promise<string> {
    // The OAuth library is loaded only here: a command with a fresh token does not pay for it.
    const { refreshCredentials } = await import("./refresh.ts");
    tokens = await refreshCredentials(context, name, rejected);
    return tokens.access_token;
  }

  return {
    current: () => (isDue(tokens, context.now()) ? renew() : Promise.resolve(tokens.access_token)),
    renewed: (rejected) => (tokens.access_token === rejected ? renew(rejected) : Promise.resolve(tokens.access_token)),
  };
}

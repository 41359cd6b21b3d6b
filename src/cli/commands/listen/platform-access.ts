import { hostname } from "node:os";
import { parseBaseUrl } from "../../../client/base-url.ts";
import type { CredentialSource } from "../../../client/http.ts";
import { ListenError } from "../../../relay/listen-error.ts";
import type { SessionOptions } from "../../../relay/session.ts";
import type { Context } from "../../context.ts";
import { NotSignedInError, UsageError } from "../../errors.ts";

export interface PlatformAccess extends Pick<SessionOptions, "baseUrl" | "authorization" | "device"> {
  /** Tells this platform and credential from others; a secret where a key was given, so to be hashed only. */
  identity: readonly string[];
  /** Where the credential came from: `SERVICE_API_KEY`, `profile work`. */
  credentialSource: string;
}

/** Where to listen, and as whom. Throws UsageError for the live environment, NotSignedInError without a credential. */
export async function accessPlatform(context: Context): Promise<PlatformAccess> {
  if (context.globals.live) {
    throw new UsageError("Listening works in the sandbox only", { hint: "Leave out --live." });
  }
  const connection = await context.connection();
  const { baseUrl, profile, credential } = connection;
  const source = context.credentialsOf(connection);
  const isStored = credential?.source === "profile";
  return {
    baseUrl: parseBaseUrl(baseUrl.value, { insecure: context.globals.insecure }),
    authorization: () => bearer(source),
    device: hostname(),
    credentialSource: credential?.name ?? "",
    // A stored token changes with each renewal.
    identity: [baseUrl.value, isStored ? `profile ${profile.value}` : JSON.stringify(credential?.value)],
  };
}

/** Each connection asks anew: an access token ends long before a session does. */
async function bearer(credential: string | CredentialSource): Promise<string> {
  try {
    return `Bearer ${typeof credential === "string" ? credential : await credential.current()}`;
  } catch (error) {
    // No later connection would get past it.
    if (error instanceof NotSignedInError) throw new ListenError("unauthorized", error.message);
    throw error;
  }
}

import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { AuthorizationError, NetworkError } from "../errors.ts";

const MOST_WORDS = 300;

/** What went wrong, in words: the protocol library's own are too general to act upon. */
export function authorizationErrorOf(error: unknown, issuer: URL, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error;
  const known = causesOf(error).find((cause) => cause instanceof AuthorizationError || cause instanceof NetworkError);
  if (known !== undefined) return known;
  const own = issuerIn(error);
  if (own !== undefined) {
    return new AuthorizationError("other_issuer", `${issuer.host} says that it is ${own.slice(0, 200)}`, {
      hint: `Where you trust that address, use it: --auth-url ${own.slice(0, 200)}`,
    });
  }
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    const description = error.error_description?.slice(0, MOST_WORDS);
    return new AuthorizationError(error.error, description ?? `The authorization server said ${error.error}`);
  }
  const detail = causesOf(error).at(-1)?.message ?? String(error);
  return new AuthorizationError("invalid_answer", `The answer of ${issuer.host} is not acceptable: ${detail}`, {
    hint: "Something else may answer in its place. Check --base-url and --auth-url.",
    cause: error,
  });
}

/** The name that a server gives itself, where it is not the one that was called. */
function issuerIn(error: unknown): string | undefined {
  const cause = error instanceof ClientError ? error.cause : undefined;
  if (typeof cause !== "object" || cause === null || !("attribute" in cause) || cause.attribute !== "issuer") return;
  const body = "body" in cause ? cause.body : undefined;
  if (typeof body !== "object" || body === null || !("issuer" in body)) return;
  return typeof body.issuer === "string" ? body.issuer : undefined;
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

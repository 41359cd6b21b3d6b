import type { IncomingHttpHeaders } from "node:http";
import { HEADERS } from "../../contract/headers.ts";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Versions } from "../domain/versions.ts";

/**
 * Returns the version of a request: its header's, or the account's pinned one. Throws ApiError `unsupported_version`.
 */
export function versionOf(versions: Versions, headers: IncomingHttpHeaders, pinned: string): string {
  const header = headers[HEADERS.version.toLowerCase()];
  if (typeof header !== "string") return pinned;
  if (versions.dates.includes(header)) return header;
  throw new ApiError(
    "unsupported_version",
    `Service-Version ${JSON.stringify(header.slice(0, 40))} is not supported. Supported: ${versions.dates.join(", ")}.`,
    { members: { supported: versions.dates } },
  );
}

/** Returns the version of a response, error responses included: the request's if it is supported, or the pinned one. */
export function versionOfResponse(versions: Versions, headers: IncomingHttpHeaders, pinned: string): string {
  const requested = headers[HEADERS.version.toLowerCase()];
  return typeof requested === "string" && versions.dates.includes(requested) ? requested : pinned;
}

/** Returns the header's value without quotes; undefined if it is not valid. */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  return /^[\x21-\x7e]+$/.test(key) && key.length <= LIMITS.idempotencyKeyLength ? key : undefined;
}

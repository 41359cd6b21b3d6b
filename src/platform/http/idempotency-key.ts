import { LIMITS } from "../../contract/limits.ts";

/** Returns the header's value without quotes; undefined if it is not valid. */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  return /^[\x21-\x7e]+$/.test(key) && key.length <= LIMITS.idempotencyKeyLength ? key : undefined;
}

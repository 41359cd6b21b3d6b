import { LIMITS } from "../../contract/limits.ts";
import { invalidFields } from "./api-error.ts";

export function parseMetadata(json: string): Record<string, string> {
  return JSON.parse(json) as Record<string, string>;
}

/** Merges a patch: `null` or an empty string removes the key. Refuses a result of more keys than metadata may have. */
export function mergeMetadata(
  before: Record<string, string>,
  patch: Record<string, string | null>,
): Record<string, string> {
  const merged = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === "") merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > LIMITS.metadataKeys) {
    const detail = `must have at most ${LIMITS.metadataKeys} keys; merged with what is there it has ${merged.size}`;
    throw invalidFields([{ pointer: "/metadata", code: "too_many", detail }]);
  }
  return Object.fromEntries(merged);
}

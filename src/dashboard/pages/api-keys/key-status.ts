import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import { environmentNow } from "../../clock.ts";

/** True where the key was revoked because it was found in public. */
export function isLeaked({ revoked_reason: reason }: ApiKey): boolean {
  return reason?.startsWith("leaked") === true;
}

export function statusOf(key: ApiKey): "active" | "leaked" | "revoked" | "expired" {
  if (isLeaked(key)) return "leaked";
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && Date.parse(key.expires_at) <= environmentNow() ? "expired" : "active";
}

import { LIMITS } from "../../../contract/limits.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { environmentNow } from "../../clock.ts";

/** True where the secret should have been rotated (platform specification 5.3). */
export function isOldSecret({ secret_created: made }: WebhookEndpoint): boolean {
  return environmentNow() - Date.parse(made) > LIMITS.secretAgeDays * 86_400_000;
}

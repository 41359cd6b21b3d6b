import type { Settings } from "./profiles.ts";

/** Whether a person wants to hear of newer versions, and what says so. */
export function updateNotices(
  env: Readonly<Record<string, string | undefined>>,
  { update_notices: stored }: Settings,
): { value: boolean; source: string } {
  if (env["SERVICE_NO_UPDATE_NOTIFIER"]) return { value: false, source: "SERVICE_NO_UPDATE_NOTIFIER" };
  return typeof stored === "boolean" ? { value: stored, source: "settings file" } : { value: true, source: "default" };
}

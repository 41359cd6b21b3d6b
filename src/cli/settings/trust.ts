import { realpathSync } from "node:fs";
import type { ProjectTrust, Settings } from "./profiles.ts";

/** Returns what the user allows the project file of a folder. */
export function trustIn({ trusted_projects: all = {} }: Settings, folder: string): ProjectTrust {
  const name = realpathSync(folder);
  return Object.hasOwn(all, name) ? all[name]! : { platform: null, receivers: [] };
}

/** Returns the settings with what the user allows the project file of a folder. */
export function withTrust(settings: Settings, folder: string, trust: ProjectTrust): Settings {
  return { ...settings, trusted_projects: { ...settings.trusted_projects, [realpathSync(folder)]: trust } };
}

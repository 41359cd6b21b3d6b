import type { Environment } from "../../contract/environments.ts";
import { DEFAULT_PROFILE } from "./profiles.ts";

/** What to type to sign in again as a profile, for an environment: `service login --profile shop --live`. */
export function loginCommand({ profile, environment }: { profile: string; environment: Environment }): string {
  const flags = [
    ...(profile === DEFAULT_PROFILE ? [] : [`--profile ${profile}`]),
    ...(environment === "live" ? ["--live"] : []),
  ];
  return ["service login", ...flags].join(" ");
}

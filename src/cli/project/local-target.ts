import { isThisMachine, parseTarget } from "../../relay/targets.ts";
import type { Project } from "./schema.ts";

/** Returns the target on this machine that the project file sends events to. */
export function localTargetOf({ forward: { to } = {} }: Project): string | undefined {
  if (to === undefined || !isThisMachine(parseTarget(String(to)).url.hostname)) return undefined;
  return String(to);
}

import { shellCommand } from "../../contract/shell-command.ts";
import { isThisMachine, parseTarget } from "../../relay/targets.ts";
import { type ProjectTrust, type Settings, trustIn } from "../settings/profiles.ts";
import { PROJECT_FILE } from "./file.ts";
import { findProjectPlatform } from "./platform.ts";
import { ProjectFileError } from "./read.ts";
import type { Project } from "./schema.ts";

/** Returns the origins on other machines that the project file sends events to. */
function remoteReceivers({ forward: { to, routes = {} } = {} }: Project): string[] {
  const targets = [...(to === undefined ? [] : [to]), ...Object.values(routes)];
  const urls = targets.map((target) => parseTarget(String(target)).url);
  return [...new Set(urls.filter(({ hostname }) => !isThisMachine(hostname)).map(({ origin }) => origin))];
}

/** Returns what the project file of a folder uses. Until its first start, a platform of port `auto` has no URL. */
export function trustOf(project: Project, folder: string): ProjectTrust {
  const isAuto = project.platform?.port === "auto";
  return {
    platform: isAuto ? "auto" : (findProjectPlatform(folder)?.trustName ?? null),
    receivers: remoteReceivers(project),
  };
}

/** Returns the target on this machine that the project file sends events to. */
export function localTargetOf({ forward: { to } = {} }: Project): string | undefined {
  if (to === undefined || !isThisMachine(parseTarget(String(to)).url.hostname)) return undefined;
  return String(to);
}

/**
 * Throws ProjectFileError if the user has not allowed the project file to send events to other machines: it may come with
 * someone else's repository.
 */
export function assertReceiversTrusted(
  project: Project,
  { settings, projectFolder }: { settings: Settings; projectFolder: string },
): void {
  const { receivers } = trustIn(settings, projectFolder);
  const [first, ...others] = remoteReceivers(project).filter((origin) => !receivers.includes(origin));
  if (first === undefined) return;
  throw new ProjectFileError(
    `Events are not sent to ${[first, ...others].join(", ")}, which only ${PROJECT_FILE} names`,
    shellCommand`If you trust it, run \`service dev trust\`, or name it yourself: service listen --forward-to ${first}`,
  );
}

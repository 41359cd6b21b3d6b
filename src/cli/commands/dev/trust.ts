import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { PROJECT_FILE } from "../../project/file.ts";
import { trustOf } from "../../project/remote-receivers.ts";
import { type ProjectTrust, withTrust } from "../../settings/profiles.ts";
import { printable } from "../../terminal/printable.ts";
import { readProject } from "../../project/read.ts";
import type { Project } from "../../project/schema.ts";

const OWN_PLATFORM = "the platform that `service dev` starts in this folder";

/** `service dev trust`: allows the hosts that the project file contains now, but not those added later. */
export async function runTrust(command: Context, { yes, revoke }: { yes?: true; revoke?: true }): Promise<void> {
  const context = command.inProjectFolder();
  const { output, cwd } = context;
  if (revoke) {
    const nothing: ProjectTrust = { platform: null, receivers: [] };
    await context.updateSettings((settings) => withTrust(settings, cwd, nothing));
    if (output.json) return await output.document({ folder: cwd, ...nothing });
    return output.success(`${PROJECT_FILE} may use no other machine`);
  }
  const trust = trustOf(requireProject(context).project, cwd);
  const { platform } = trust;
  const uses = [
    ...(platform === null ? [] : [`send your API key to ${platform === "auto" ? OWN_PLATFORM : platform}`]),
    ...trust.receivers.map((origin) => `send events to ${origin}`),
  ].map(printable);
  if (uses.length > 0 && !yes) {
    const message = `Allow ${PROJECT_FILE} to ${uses.join(", and to ")}?`;
    const isConfirmed = await context.prompts.confirm({ message, flag: "--yes" });
    if (!isConfirmed) throw new UserError("Nothing was allowed", { code: "not_confirmed" });
  }
  await context.updateSettings((settings) => withTrust(settings, cwd, trust));
  if (output.json) return await output.document({ folder: cwd, ...trust });
  if (uses.length === 0) return output.success(`${PROJECT_FILE} uses no other machine`);
  output.success(`${PROJECT_FILE} may ${uses.join(", and may ")}`);
}

/** Returns the project of the folder. Throws UsageError without one. */
export function requireProject(context: Context): { project: Project; text: string } {
  const found = readProject(context.cwd);
  if (found !== undefined) return found;
  const isOther = context.hasProjectFile;
  throw new UsageError(
    isOther ? `${PROJECT_FILE} is a Kubernetes manifest` : `${PROJECT_FILE} not found in ${context.cwd}`,
    {
      hint: isOther
        ? "Move it to another folder, then create service.yaml: service dev init"
        : "To create it: service dev init",
      code: "no_project_file",
    },
  );
}

import type { Command } from "commander";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { flagsOf, variableNames } from "../../project/forwarding.ts";
import type { ListenFlags } from "./run.ts";

/** Returns the settings of the project file in the working folder, without those that flags override. */
export async function projectFlags(command: Command, context: Context): Promise<Partial<ListenFlags>> {
  if (!context.hasProjectFile) return {};
  const { readProject } = await import("../../project/read.ts");
  const found = readProject(context.cwd);
  if (found === undefined) return {};
  const { forwardTo, route, ...others } = flagsOf(found.project);
  const { file } = found.project.env ?? {};
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  // The routes of the file would catch events that --forward-to is meant for.
  const targets = isGiven("forwardTo") || isGiven("route") ? {} : { forwardTo, route };
  const writeEnv =
    file === undefined ? undefined : { file: resolve(context.cwd, file), name: variableNames(found.project).secret };
  const all = Object.entries({ ...targets, ...others, writeEnv });
  return Object.fromEntries(all.filter(([name, value]) => value !== undefined && !isGiven(name)));
}

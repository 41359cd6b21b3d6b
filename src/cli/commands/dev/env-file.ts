import { relative, resolve } from "node:path";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { variableNames } from "../../project/forwarding.ts";
import type { Project } from "../../project/schema.ts";
import { openFileWarning, writeEnvFile } from "../../forwarding/files.ts";

/**
 * Returns the variables for the app: signing secret, API key and base URL. Writes them to the file that `env.file`
 * names.
 */
export async function writeVariables(
  project: Project,
  { baseUrl, secret, context }: { baseUrl: string; secret: string; context: Context },
): Promise<Record<string, string>> {
  const names = variableNames(project);
  const { credential } = await context.connection();
  const key = credential?.value.type === "api_key" ? credential.value.api_key : undefined;
  const variables = {
    [names.secret]: secret,
    ...(key === undefined ? {} : { [names.key]: key }),
    [names.url]: baseUrl,
  };
  const { file } = project.env ?? {};
  if (key === undefined) {
    context.output.warn(
      `${names.key} is not set: ${credential?.name ?? "the profile"} has a session, not an API key. To create one: service keys create --name dev`,
    );
  }
  if (file === undefined) return variables;
  const path = resolve(context.cwd, file);
  try {
    await writeEnvFile(path, variables);
  } catch (error) {
    throw new UserError(`env.file: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
  const warning = openFileWarning(path, "an API key and the signing secret", context.platform);
  if (warning !== undefined) context.output.warn(warning.replaceAll(path, relative(context.cwd, path)));
  return variables;
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FILE } from "../project/file.ts";
import { type Flag, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import { headerIn } from "../../relay/forward-headers.ts";
import { type Scheme, SCHEMES, type SchemeName } from "../../webhooks/schemes.ts";

export const SCHEME_NAMES = Object.keys(SCHEMES);

export interface SchemeFlag {
  scheme?: string;
}

export const SCHEME_FLAG: Flag = flag(
  "--scheme <name>",
  `Scheme of the signature: ${SCHEME_NAMES.join(", ")}, or one of service.yaml (default: service)`,
);

/** Returns the scheme of this name. Throws UsageError with the nearest names, ProjectFileError. */
export async function schemeNamed(name: string, context: Context): Promise<Scheme> {
  if (Object.hasOwn(SCHEMES, name)) {
    const known: Scheme = SCHEMES[name as SchemeName];
    if (known !== SCHEMES.service) await assertOnlyOne(name, context);
    return known;
  }
  const { readProject } = await import("../project/read.ts");
  const found = readProject(context.projectFolder, "schemes");
  const { schemes = {} } = found?.project ?? {};
  if (Object.hasOwn(schemes, name)) return { name, ...schemes[name]! };
  const names = [...SCHEME_NAMES, ...Object.keys(schemes)];
  const near = nearest(name, names);
  throw new UsageError(`Unknown scheme "${name}"`, {
    hint:
      near.length > 0
        ? didYouMean(near)
        : `Schemes: ${names.join(", ")}${found === undefined ? ". There is no service.yaml in this folder." : ""}`,
  });
}

/** Throws ProjectFileError for a scheme of `service.yaml` that has the name of a provider; its other errors do no harm. */
async function assertOnlyOne(name: string, { cwd }: Context): Promise<void> {
  if (!existsSync(join(cwd, PROJECT_FILE))) return;
  const { ProjectFileError, readProject } = await import("../project/read.ts");
  try {
    readProject(cwd, "schemes");
  } catch (error) {
    if (!(error instanceof ProjectFileError) || error.hint?.includes(`schemes.${name}: `)) throw error;
  }
}

/** Returns the known provider whose signature these headers, a flat list of names and values, contain. */
export function schemeNameIn(headers: readonly string[] = []): SchemeName | undefined {
  const all = Object.keys(SCHEMES) as SchemeName[];
  return all.find((name) => headerIn(headers, SCHEMES[name].signature.header) !== undefined);
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { PROJECT_DEFAULTS, PROJECT_FILE } from "../project/file.ts";
import { readRegularFile } from "../project/safe-files.ts";
import { collect } from "../arguments/repeated.ts";
import { type Flag, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import type { SignatureError } from "../../webhooks/index.ts";
import type { SchemeFlag } from "./scheme.ts";

/** The variable that holds the signing secret of a receiver on this machine. */
export const SECRET_VARIABLE = "SERVICE_WEBHOOK_SECRET";

export interface SecretFlags {
  secret: readonly string[];
  secretFile?: string | undefined;
}

/**
 * A secret may be given twice while it is rotated. Only the flag with the secret itself is visible in the process list.
 */
export const SECRET_FLAGS = secretFlags(`default: the secret in $${SECRET_VARIABLE}`);

/** The flags that `secretsIfNamed` reads. */
export const OPTIONAL_SECRET_FLAGS = secretFlags(`default with --scheme: the secret in $${SECRET_VARIABLE}`);

function secretFlags(standard: string): readonly Flag[] {
  return [
    flag("--secret <secret>", `Signing secret, repeatable during a rotation (${standard})`, { collect, default: [] }),
    flag("--secret-file <file>", "File with the secrets, one per line; - for stdin"),
  ];
}

/** Returns the secrets of `secretsIfKnown`. Throws UsageError if there are none. */
export async function secretsOf(flags: SecretFlags & SchemeFlag, context: Context): Promise<readonly string[]> {
  const secrets = await secretsIfKnown(flags, context);
  if (secrets !== undefined) return secrets;
  throw new UsageError(NO_SECRET);
}

const INVALID_SECRET = `It is from --secret, --secret-file or ${SECRET_VARIABLE}. To create one: echo whsec_$(openssl rand -base64 24)`;

/** Returns the error for a delivery that cannot be signed. */
export function signingError(cause: SignatureError): UsageError {
  const { code, message } = cause;
  return new UsageError(message, { code, hint: code === "invalid_secret" ? INVALID_SECRET : undefined, cause });
}

export const NO_SECRET = `No signing secret: pass --secret or --secret-file, or set ${SECRET_VARIABLE}`;

/** Returns the secrets of the flags, else of the environment, else for the platform that of the project's env file. */
export async function secretsIfKnown(
  flags: SecretFlags & SchemeFlag,
  context: Context,
): Promise<readonly string[] | undefined> {
  const given = await secretsIfGiven(flags, context);
  const { scheme = "service" } = flags;
  if (given !== undefined || scheme !== "service" || !existsSync(join(context.cwd, PROJECT_FILE))) return given;
  const { readProject } = await import("../project/read.ts");
  const { file, secret: name = PROJECT_DEFAULTS.secret } = readProject(context.cwd, "env")?.project.env ?? {};
  if (file === undefined) return undefined;
  const secret = variableIn(join(context.cwd, file), name);
  if (secret === undefined) return undefined;
  context.output.notice(`Using ${name} of ${file}`);
  return [secret];
}

const MAX_ENV_BYTES = 64 * 1024;

function variableIn(file: string, name: string): string | undefined {
  try {
    return parseEnv(readRegularFile(file, MAX_ENV_BYTES).toString("utf8"))[name] || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the secrets of the flags, else of the environment; undefined if none is given. */
export async function secretsIfGiven(
  { secret, secretFile }: SecretFlags,
  context: Context,
): Promise<readonly string[] | undefined> {
  if (secret.length > 0 && secretFile !== undefined) {
    throw new UsageError("--secret cannot be combined with --secret-file");
  }
  if (secret.length > 0) {
    const trimmed = secret.map((text) => text.trim());
    if (trimmed.some((text, i) => text !== secret[i])) {
      context.output.warn("--secret: the spaces around the secret were removed.");
    }
    return trimmed;
  }
  if (secretFile !== undefined) {
    const lines = (await context.readInput(secretFile, "--secret-file")).toString("utf8").split(/\r?\n/);
    const secrets = lines.map((line) => line.trim()).filter((line) => line !== "");
    if (secrets.length === 0) {
      const problem =
        secretFile === "-" ? "stdin is empty. Is the shell variable set?" : `${secretFile} contains no secret`;
      throw new UsageError(`--secret-file: ${problem}`);
    }
    return secrets;
  }
  const variable = context.env[SECRET_VARIABLE];
  return variable ? [variable] : undefined;
}

/**
 * The same for a command that works without a secret: the environment's is used only with `--scheme`, since it may be
 * set for another receiver.
 */
export async function secretsIfNamed(
  flags: SecretFlags & SchemeFlag,
  context: Context,
): Promise<readonly string[] | undefined> {
  const isNamed = flags.secret.length > 0 || flags.secretFile !== undefined;
  if (flags.scheme !== undefined) return await secretsOf(flags, context);
  return isNamed ? await secretsIfGiven(flags, context) : undefined;
}

import { collect } from "../arguments/repeated.ts";
import { type Flag, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import type { SchemeFlag } from "./scheme.ts";

/** The variable that holds the signing secret of a receiver on this machine. */
export const SECRET_VARIABLE = "SERVICE_WEBHOOK_SECRET";

/** The flags that name the secrets. */
export interface SecretFlags {
  secret: readonly string[];
  secretFile?: string | undefined;
}

/**
 * A secret may be given twice while it is rotated. Only the flag with the secret itself is visible in the process list.
 */
export const SECRET_FLAGS = secretFlags(`default: ${SECRET_VARIABLE}`);

/** The same for `secretsIfNamed`. */
export const OPTIONAL_SECRET_FLAGS = secretFlags(`default with --scheme: ${SECRET_VARIABLE}`);

function secretFlags(standard: string): readonly Flag[] {
  return [
    flag("--secret <secret>", `Signing secret, repeatable during a rotation (${standard})`, { collect, default: [] }),
    flag("--secret-file <file>", "File with the secrets, one per line; - for stdin"),
  ];
}

/** Returns the secrets of the flags, else of the environment. Throws UsageError if there are none. */
export async function secretsOf(flags: SecretFlags, context: Context): Promise<readonly string[]> {
  const secrets = await secretsIfGiven(flags, context);
  if (secrets !== undefined) return secrets;
  throw new UsageError(`No signing secret: pass --secret or --secret-file, or set ${SECRET_VARIABLE}`);
}

/** The same, or undefined if none is given. */
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
    if (secrets.length === 0) throw new UsageError(`--secret-file: ${secretFile} contains no secret`);
    return secrets;
  }
  const variable = context.env[SECRET_VARIABLE];
  return variable ? [variable] : undefined;
}

/**
 * The same for a command that works without a secret: the environment's counts only together with `--scheme`, since it
 * may be set for another receiver.
 */
export async function secretsIfNamed(
  flags: SecretFlags & SchemeFlag,
  context: Context,
): Promise<readonly string[] | undefined> {
  const isNamed = flags.secret.length > 0 || flags.secretFile !== undefined;
  if (flags.scheme !== undefined) return await secretsOf(flags, context);
  return isNamed ? await secretsIfGiven(flags, context) : undefined;
}

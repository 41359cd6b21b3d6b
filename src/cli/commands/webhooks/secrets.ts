import { Option } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";

const VARIABLE = "SERVICE_WEBHOOK_SECRET";

/** `--secret`, which may be given twice while a secret is rotated. */
export function secretOption(): Option {
  return new Option("--secret <secret...>", `Signing secret, or both of them during a rotation (or ${VARIABLE})`);
}

/** The secrets of the flag, else of the environment, where they do not show in the list of processes. */
export function secretsOf(flag: readonly string[] | undefined, { env }: Context): readonly string[] {
  if (flag !== undefined) return flag;
  const variable = env[VARIABLE];
  if (variable) return [variable];
  throw new UsageError(`No signing secret: give --secret, or set ${VARIABLE}`);
}

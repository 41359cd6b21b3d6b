import { assertSigningSecret } from "../../../relay/dispatcher.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { type ForwardingFlags, ownSecretOf, readForwardingOptions, usageOf } from "../../forwarding/options.ts";
import { accessPlatform, fetchListenSecret } from "../../forwarding/platform-access.ts";
import { replayFile } from "../../forwarding/replay-file.ts";

export interface ReplayFlags extends ForwardingFlags {
  speed: number;
}

/**
 * Sends a recording again. Exits with 1 if a receiver did not accept all of it. Needs the platform
 * only for the session's secret, if no other is given.
 */
export async function runReplay(file: string, flags: ReplayFlags, context: Context): Promise<void> {
  const { output, signal } = context;
  output.rejectFilters();
  const { receivers, options, chaos } = readForwardingOptions(flags, context);
  if (receivers.target === undefined && receivers.routes.length === 0) {
    throw new UsageError("No target specified", {
      hint: shellCommand`Pass --forward-to: service listen replay ${file} --forward-to 3000`,
    });
  }
  const own = await ownSecretOf(flags, context);
  const secret = own.secret ?? (await fetchListenSecret(await accessPlatform(context), signal));
  usageOf(() => assertSigningSecret(secret), SignatureError, own.secretSource ?? "--secret");
  const signing = { secret: () => secret };
  await replayFile(file, { ...options, speed: flags.speed, signing }, { ...receivers, chaos }, context);
}

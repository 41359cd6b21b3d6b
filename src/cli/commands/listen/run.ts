import { shellCommand } from "../../../contract/shell-command.ts";
import { assertSigningSecret } from "../../../relay/dispatcher.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import type { Context } from "../../context.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { asUsage, UsageError } from "../../errors.ts";
import { openDisplay } from "../../forwarding/display.ts";
import { type Forwards, sayWaiting } from "../../forwarding/interruption.ts";
import { type ListenFlags, Listening } from "../../forwarding/listening.ts";
import { type ForwardingFlags, ownSecretOf, readForwardingOptions } from "../../forwarding/options.ts";
import { accessPlatform, fetchListenSecret } from "../../forwarding/platform-access.ts";

/**
 * Listens until Ctrl-C, until the command that runs meanwhile has exited, or until the platform rejects it permanently.
 */
export async function runListen(flags: ListenFlags, command: readonly string[], context: Context): Promise<void> {
  const { output } = context;
  if (flags.printSecret) return await printSecret(flags, context);
  const platform = await accessPlatform(context);
  const { receivers, options: forwarding, chaos } = readForwardingOptions(flags, context);
  if (receivers.target?.origin === platform.baseUrl.origin)
    output.warn("--forward-to points to the platform itself, not to your application.");
  const secret = await ownSecretOf(flags, context);
  const where = flags.where?.map(({ text }) => text);
  const setup = {
    ...receivers,
    ...secret,
    chaos,
    credentialSource: platform.credentialSource,
    where,
    explains: true as const,
  };
  const clock = new EnvironmentClock(context);
  const display = await openDisplay(context, setup, { runsCommand: command.length > 0, ui: flags.ui, clock });
  const onStopping = (run: Forwards): void => sayWaiting(run, forwarding.timeoutMs, context);
  const options = { flags, command, platform, setup, forwarding, display, clock, onStopping };
  await new Listening(options, context).run();
}

async function printSecret(flags: ListenFlags, context: Context): Promise<void> {
  const own = await ownSecretOf(flags, context);
  const secret = own.secret ?? (await fetchListenSecret(await accessPlatform(context), context.signal));
  if (context.output.json) await context.output.document({ secret });
  else context.output.line(secret);
}

export interface ReplayFlags extends ForwardingFlags {
  speed: number;
}

/**
 * Sends a recording again. Exits with 1 if a receiver did not accept all of it. Needs the platform
 * only for the session's secret, if no other is given.
 */
export async function runReplay(file: string, flags: ReplayFlags, context: Context): Promise<void> {
  const { signal } = context;
  const { receivers, options, chaos } = readForwardingOptions(flags, context);
  if (receivers.target === undefined && receivers.routes.length === 0) {
    throw new UsageError("No target specified", {
      hint: shellCommand`Pass --forward-to: service listen replay ${file} --forward-to 3000`,
    });
  }
  const own = await ownSecretOf(flags, context);
  const secret = own.secret ?? (await fetchListenSecret(await accessPlatform(context), signal));
  asUsage(() => assertSigningSecret(secret), SignatureError, own.secretSource ?? "--secret");
  const signing = { secret: () => secret };
  const { replayFile } = await import("../../forwarding/replay-file.ts");
  await replayFile(file, { ...options, speed: flags.speed, signing }, { ...receivers, chaos }, context);
}

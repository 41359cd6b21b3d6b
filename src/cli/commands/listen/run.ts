import type { Context } from "../../context.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { openDisplay } from "../../forwarding/display.ts";
import { Listening, type ListenFlags } from "../../forwarding/listening.ts";
import { ownSecretOf, readForwardingOptions } from "../../forwarding/options.ts";
import { accessPlatform, fetchListenSecret } from "../../forwarding/platform-access.ts";

/**
 * Listens until Ctrl-C, until the command that runs meanwhile has exited, or until the platform rejects it permanently.
 */
export async function runListen(flags: ListenFlags, command: readonly string[], context: Context): Promise<void> {
  const { output } = context;
  if (flags.printSecret) return await printSecret(context);
  output.rejectFilters();
  const platform = await accessPlatform(context);
  const { receivers, options: forwarding, chaos } = readForwardingOptions(flags, context);
  if (receivers.target?.origin === platform.baseUrl.origin)
    output.warn("--forward-to points to the platform itself, not to your application.");
  const secret = await ownSecretOf(flags, context);
  const setup = { ...receivers, ...secret, chaos, credentialSource: platform.credentialSource };
  const clock = new EnvironmentClock(context);
  const display = await openDisplay(context, setup, { runsCommand: command.length > 0, ui: flags.ui, clock });
  await new Listening({ flags, command, platform, setup, forwarding, display, clock }, context).run();
}

async function printSecret(context: Context): Promise<void> {
  const secret = await fetchListenSecret(await accessPlatform(context), context.signal);
  if (context.output.json) await context.output.document({ secret });
  else context.output.line(secret);
}

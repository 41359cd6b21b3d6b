import type { Context } from "../../context.ts";
import { openDisplay } from "./display.ts";
import { readForwardingOptions } from "./forwarding-options.ts";
import type { ListenFlags } from "./index.ts";
import { Listening } from "./listening.ts";
import { accessPlatform } from "./platform-access.ts";
import { fetchSessionSecret } from "./session-secret.ts";

/** Listens until Ctrl-C, until the command that runs meanwhile has ended, or until the platform refuses for good. */
export async function runListen(flags: ListenFlags, command: readonly string[], context: Context): Promise<void> {
  const { output } = context;
  if (flags.printSecret) return await printSecret(context);
  output.rejectFilters();
  const platform = await accessPlatform(context);
  const { receivers, options: forwarding, chaos } = readForwardingOptions(flags, context);
  if (receivers.target?.origin === platform.baseUrl.origin)
    output.warn("--forward-to points to the platform itself, not to your application.");
  const setup = { ...receivers, secret: flags.secret, chaos, credentialSource: platform.credentialSource };
  const display = await openDisplay(context, setup, { runsCommand: command.length > 0 });
  await new Listening({ flags, command, platform, receivers, forwarding, display }, context).run();
}

async function printSecret(context: Context): Promise<void> {
  const secret = await fetchSessionSecret(await accessPlatform(context), context.signal);
  if (context.output.json) await context.output.document({ secret });
  else context.output.line(secret);
}

import { ChaosSettingsError, formatChaosSettings, parseChaosSettings } from "../../../relay/chaos-settings.ts";
import type { ChaosSettings } from "../../../relay/chaos-settings.ts";
import { ForwardHeaderError, parseForwardHeaders } from "../../../relay/forward-headers.ts";
import type { ForwardingOptions } from "../../../relay/dispatcher.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { type Receivers, readReceivers } from "./receivers.ts";
import { hostKind } from "./host-kind.ts";
import { usageOf } from "./usage-of.ts";

/** Flags that `listen` and `listen replay` share. */
export interface ForwardingFlags {
  forwardTo?: string;
  route: string[];
  header: string[];
  secret?: string;
  concurrency: number;
  ordered: boolean;
  retries: number;
  /** Milliseconds. */
  timeout: number;
  skipVerify: boolean;
  chaos?: string;
}

const SEEDS = 2 ** 32;

/** Reads the flags, warns of what is risky. Throws UsageError. */
export function readForwardingOptions(
  flags: ForwardingFlags,
  context: Context,
): { receivers: Receivers; options: ForwardingOptions; chaos: string | undefined } {
  const { warnings, ...receivers } = readReceivers(flags.forwardTo, flags.route);
  for (const warning of warnings) context.output.warn(warning);
  const { skipVerify, timeout, concurrency, ordered, retries } = flags;
  const chaos = readChaos(flags, context);
  const options: ForwardingOptions = {
    ...receivers,
    headers: usageOf(() => parseForwardHeaders(flags.header), ForwardHeaderError, "--header"),
    skipVerify,
    timeoutMs: timeout,
    concurrency,
    ordered,
    retries,
    chaos,
    host: hostKind(context.platform),
  };
  return { receivers, options, chaos: chaos && formatChaosSettings(chaos) };
}

function readChaos({ chaos, ordered }: ForwardingFlags, context: Context): ChaosSettings | undefined {
  if (chaos === undefined) return undefined;
  const newSeed = () => Math.floor(context.random() * SEEDS);
  const settings = usageOf(() => parseChaosSettings(chaos, newSeed), ChaosSettingsError, "--chaos");
  if (ordered && settings.reorder > 0) throw new UsageError("--chaos reorder cannot be combined with --ordered");
  return settings;
}

import { existsSync, readFileSync } from "node:fs";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS, typesOfSubscription } from "../../contract/event-types.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import {
  type ChaosSettings,
  ChaosSettingsError,
  formatChaosSettings,
  parseChaosSettings,
} from "../../relay/chaos-settings.ts";
import type { ForwardingOptions } from "../../relay/dispatcher.ts";
import type { HostKind } from "../../relay/forward-failure.ts";
import { ForwardHeaderError, parseForwardHeaders } from "../../relay/forward-headers.ts";
import { parseTarget, type Route, type Target, TargetError } from "../../relay/targets.ts";
import type { Context } from "../context.ts";
import { asUsage, UsageError } from "../errors.ts";
import { SECRET_VARIABLE, secretsIfGiven } from "../receivers/secrets.ts";

/** Flags that `listen` and `listen replay` share. */
export interface ForwardingFlags {
  forwardTo?: string;
  route?: string[];
  header?: string[];
  secret?: string;
  secretFile?: string;
  concurrency?: number;
  ordered?: boolean;
  retries?: number;
  /** Milliseconds. */
  timeout?: number;
  skipVerify?: boolean;
  chaos?: string;
}

const SEEDS = 2 ** 32;

/** Parses the flags, and warns of risky ones. Throws UsageError. */
export function readForwardingOptions(
  flags: Omit<ForwardingFlags, "secret" | "secretFile">,
  context: Context,
): { receivers: Receivers; options: ForwardingOptions; chaos: string | undefined } {
  const { forwardTo, route = [], header = [], skipVerify, timeout = 10_000, concurrency, ordered, retries } = flags;
  const { warnings, ...receivers } = readReceivers(forwardTo, route);
  for (const warning of warnings) context.output.warn(warning);
  const chaos = readChaos(flags, context);
  const options: ForwardingOptions = {
    ...receivers,
    headers: asUsage(() => parseForwardHeaders(header), ForwardHeaderError, "--header"),
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
  const settings = asUsage(() => parseChaosSettings(chaos, newSeed), ChaosSettingsError, "--chaos");
  if (ordered && settings.reorder > 0) throw new UsageError("--chaos reorder cannot be combined with --ordered");
  return settings;
}

export interface Receivers {
  /** Receives events that match no route. */
  target: URL | undefined;
  routes: readonly Route[];
}

/**
 * Returns the app's own signing secret and where it comes from, or nothing if the session's is used. Warns of a secret
 * that the process list shows.
 */
export async function ownSecretOf(
  { secret, secretFile }: Pick<ForwardingFlags, "secret" | "secretFile">,
  context: Context,
): Promise<Pick<Setup, "secret" | "secretSource">> {
  const found = await secretsIfGiven({ secret: secret === undefined ? [] : [secret], secretFile }, context);
  if (found === undefined) return {};
  if (found.length > 1) throw new UsageError(`--secret-file: ${secretFile} contains several secrets; pass one`);
  if (secret !== undefined) {
    context.output.warn(
      `--secret is visible in the process list. Pass --secret-file, or set ${SECRET_VARIABLE}, instead.`,
    );
  }
  const secretSource =
    secret === undefined ? (secretFile === undefined ? SECRET_VARIABLE : "--secret-file") : "--secret";
  return { secret: found[0], secretSource };
}

/** Details that the ready message adds to the platform's information. */
export interface Setup extends Receivers {
  /** Signing secret, if it is not the platform's. */
  secret?: string | undefined;
  /** The flag or variable that the secret comes from. */
  secretSource?: string | undefined;
  /** The injected faults, as flags that repeat them. */
  chaos?: string | undefined;
  credentialSource?: string;
  /** Conditions of the events, as typed. */
  where?: readonly string[] | undefined;
  /** True if a platform has the events, so that `service why` explains them. */
  explains?: true;
  /** True if events are read from a recording. */
  isRecorded?: true;
  /** True if events and attempts are records on another stream: only the rest is text for a person. */
  isSplit?: boolean;
  /** What is shown in place of the platform's secret, which does not belong in a log. */
  hiddenSecret?: string | undefined;
  /** How to stop it; absent if the status line lists the keys. */
  ending?: string;
}

/** Parses `--forward-to` and every `--route`. The warnings are for the user. Throws UsageError. */
function readReceivers(forwardTo: string | undefined, routes: readonly string[]): Receivers & { warnings: string[] } {
  const targets: Target[] = [];
  const read = (text: string, flag: string): URL => {
    const target = asUsage(() => parseTarget(text), TargetError, flag);
    targets.push(target);
    return target.url;
  };
  const target = forwardTo === undefined ? undefined : read(forwardTo, "--forward-to");
  const parsed = routes.map((text) => {
    const at = text.indexOf("=");
    if (at < 1)
      throw new UsageError(
        `--route: "${text}" is not in the form events=target, such as 'order.*=localhost:3000/orders'`,
      );
    const subscription = text.slice(0, at).trim();
    assertSubscription(subscription);
    return { subscription, url: read(text.slice(at + 1), "--route") };
  });
  return { target, routes: parsed, warnings: [...new Set(targets.flatMap(({ warnings }) => warnings))] };
}

function assertSubscription(name: string): void {
  if (typesOfSubscription(name).length > 0) return;
  const guesses = nearest(name, [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS]);
  throw new UsageError(`--route: unknown event type "${name}"`, {
    hint: guesses.length === 0 ? "To list them: service trigger --list" : didYouMean(guesses),
  });
}

/** Every address that events may be sent to. */
export function targetsOf({ target, routes }: Receivers): URL[] {
  return [...(target === undefined ? [] : [target]), ...routes.map(({ url }) => url)];
}

/** Docker and Podman create these files in each container. */
const CONTAINER_MARKS = ["/.dockerenv", "/run/.containerenv"];

interface SystemFiles {
  exists(path: string): boolean;
  /** Returns undefined if it cannot be read. */
  read(path: string): string | undefined;
}

const realFiles: SystemFiles = {
  exists: existsSync,
  read(path) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
};

/** Returns the kind of this machine, as far as it affects the meaning of `localhost`. */
export function hostKind(platform: NodeJS.Platform, files: SystemFiles = realFiles): HostKind {
  if (platform !== "linux") return "plain";
  if (CONTAINER_MARKS.some((mark) => files.exists(mark))) return "container";
  if (/docker|containerd|kubepods/.test(files.read("/proc/1/cgroup") ?? "")) return "container";
  return /microsoft/i.test(files.read("/proc/sys/kernel/osrelease") ?? "") ? "wsl" : "plain";
}

import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS, typesOfSubscription } from "../../../contract/event-types.ts";
import { nearest } from "../../../contract/nearest.ts";
import type { Route } from "../../../relay/targets.ts";
import { parseTarget, type Target, TargetError } from "../../../relay/targets.ts";
import { UsageError } from "../../errors.ts";
import { usageOf } from "./usage-of.ts";

/** Where events go. */
export interface Receivers {
  /** Takes what no route does. */
  target: URL | undefined;
  routes: readonly Route[];
}

/** What the ready message tells besides what the platform says. */
export interface Setup extends Receivers {
  /** What is signed with, where it is not the session's secret. */
  secret?: string | undefined;
  /** The faults that are put in, as they can be given again. */
  chaos?: string | undefined;
  /** Where the credential came from. */
  credentialSource?: string;
  /** How it ends; absent where a line that stays tells of the keys. */
  ending?: string;
}

/** Reads `--forward-to` and every `--route`; the warnings are for the user. Throws UsageError. */
export function readReceivers(
  forwardTo: string | undefined,
  routes: readonly string[],
): Receivers & { warnings: string[] } {
  const targets: Target[] = [];
  const read = (text: string, flag: string): URL => {
    const target = usageOf(() => parseTarget(text), TargetError, flag);
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
    hint: guesses.length === 0 ? "To list them: service trigger --list" : `Did you mean ${guesses.join(", ")}?`,
  });
}

/** Every address that events may go to. */
export function targetsOf({ target, routes }: Receivers): URL[] {
  return [...(target === undefined ? [] : [target]), ...routes.map(({ url }) => url)];
}

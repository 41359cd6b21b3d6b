import { type KindWith, RESOURCES } from "../../contract/resources.ts";
import { capitalized } from "../../contract/words.ts";
import type { Context } from "../context.ts";
import { EnvironmentClock } from "../environment-time.ts";
import { UsageError } from "../errors.ts";
import { type Column, type ResourceView, withField } from "../terminal/view.ts";

type SecretKind = KindWith<"secret">;

/** Returns the view of an object whose secret is new. */
export function withSecret<Item>(kind: SecretKind, view: ResourceView<Item>): ResourceView<Item> {
  return withField(view, RESOURCES[kind].secret.name);
}

/** Throws before anything is created if its secret would be lost. */
export function rejectQuiet({ output }: Context, kind: SecretKind): void {
  if (!output.quiet || output.json) return;
  const { name, label } = RESOURCES[kind].secret;
  throw new UsageError(`--quiet prints IDs only, so the new ${label} would be lost`, {
    hint: `To print only the ${label}: --json --jq .${name}`,
  });
}

/** Prints an object together with its secret, which cannot be retrieved again. */
export async function showSecret<Item extends object>(
  context: Context,
  kind: SecretKind,
  item: Item,
  view: ResourceView<Item>,
): Promise<void> {
  const { output } = context;
  const { name, label } = RESOURCES[kind].secret;
  const secret = (item as Record<string, unknown>)[name];
  if (typeof secret !== "string") return await output.object(item, view);
  const shown: Column<Item> = {
    label: capitalized(name.replaceAll("_", " ")),
    text: () => secret,
    style: "strong",
  };
  // Instead of the beginning of it, which the same field has later.
  const others = (view.details ?? []).filter((detail) => detail.label !== shown.label);
  const clock = new EnvironmentClock(context);
  await clock.readForTerminal();
  await output.object(item, { ...withSecret(kind, view), details: [...others, shown] }, clock);
  output.note(`\nThe ${label} is shown only once: store it now.`);
}

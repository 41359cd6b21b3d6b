import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { Column, ResourceView } from "../../terminal/view.ts";

/** A field that the platform shows once. */
export interface Secret<Item> {
  /** For display: `API key`. */
  label: string;
  /** In the JSON: `key`. */
  member: keyof Item & string;
}

/** Throws before anything is created if its secret would be lost. */
export function rejectQuiet<Item>({ output }: Context, { label, member }: Secret<Item>): void {
  if (!output.quiet || output.json) return;
  throw new UsageError(`--quiet prints IDs only, so the new ${label} would be lost`, {
    hint: `To print only the ${label}: --json --jq .${member}`,
  });
}

/** Prints an object together with its secret, which cannot be retrieved again. */
export async function showSecret<Item extends object>(
  { output }: Context,
  item: Item,
  view: ResourceView<Item>,
  { label, member }: Secret<Item>,
): Promise<void> {
  const secret = item[member];
  if (typeof secret !== "string") return await output.object(item, view);
  const name = label.charAt(0).toUpperCase() + label.slice(1);
  const shown: Column<Item> = { label: name, text: () => secret, style: (text, styles) => styles.strong(text) };
  await output.object(item, { ...view, details: [...view.details, shown] });
  output.note(`\nThe ${label} is shown only once: store it now.`);
}

import type { Context } from "../../context.ts";
import { UserError, UsageError } from "../../errors.ts";

/** Live mode asks before it destroys: the id has to be typed. Without anybody to ask, `--yes` is required. */
export async function confirmDestruction(
  context: Context,
  {
    id,
    consequence,
    yes,
    live = context.globals.live,
  }: { id: string; consequence: string; yes: boolean | undefined; live?: boolean },
): Promise<void> {
  if (!live || yes === true || context.globals.dryRun) return;
  if (!context.interactive) {
    throw new UsageError(`${consequence} in live mode. Without a terminal, --yes is required`, {
      code: "confirmation_required",
    });
  }
  context.output.warn(`${consequence}. This is the live environment, and this cannot be undone.`);
  const typed = await context.prompts.text({ message: `Type ${id} to continue:`, flag: "--yes" });
  if (typed.trim() !== id) throw new UserError("The ID does not match; nothing was changed", { code: "not_confirmed" });
}

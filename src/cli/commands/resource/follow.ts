import type { Context } from "../../context.ts";
import { isCtrlC } from "../../errors.ts";
import { NewItems, type NewItemsOptions } from "./new-items.ts";

interface Following<Item> extends Omit<NewItemsOptions<Item>, "onLost" | "onBack"> {
  /** Said once what comes from now on is seen. */
  ready: string;
  /** What the spinner says between items. */
  waiting: string;
  print: (item: Item) => Promise<void>;
}

/** Prints what a list gets, as it comes, until Ctrl-C; a platform that is away is waited for. */
export async function followList<Item extends { id: string }>(
  context: Context,
  { ready, waiting, print, ...list }: Following<Item>,
): Promise<void> {
  const { output } = context;
  const items = new NewItems<Item>(await context.client(), context, {
    ...list,
    onLost: (reason) => output.warn(`${reason}. Reconnecting; no items will be missed.`),
    onBack: () => output.success("The platform is reachable again"),
  });
  await items.begin();
  output.note(ready);
  try {
    for (;;) {
      const coming = output.spinner.during("", items.next());
      output.spinner.say(waiting);
      for (const item of await coming) await print(item);
    }
  } catch (error) {
    if (!isCtrlC(error)) throw error;
  }
}

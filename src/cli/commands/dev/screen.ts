import type { Context } from "../../context.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { openUi } from "../../forwarding/display.ts";
import type { ListenUi } from "../../forwarding/ui/index.ts";
import type { Console } from "./console.ts";

/** Lines of the log that stay on the terminal if the screen closes because of a failure. */
const LAST_LINES = 10;

/** Returns the screen of `service listen` with the log of the console. `context` is the listener's. */
export async function openScreen(context: Context, terminal: Context, console: Console): Promise<ListenUi> {
  const setup = { target: undefined, routes: [], explains: true as const };
  const clock = new EnvironmentClock(context);
  console.screen = await openUi({ context, terminal, log: console.log, clock, setup });
  return console.screen;
}

/** Restores the terminal. After a failure, repeats what the parts printed last. */
export function closeScreen(ui: ListenUi | undefined, console: Console, hasFailed: boolean): void {
  const wasShown = ui?.isShown;
  ui?.stop();
  if (wasShown && hasFailed) console.repeat(LAST_LINES);
}

import { type Screen, type ScreenOptions, openScreen } from "../../support/screen.ts";
import { BIN } from "../../support/run-cli.ts";

export const UP = "\u001b[A";
export const DOWN = "\u001b[B";
export const LEFT = "\u001b[D";
export const RIGHT = "\u001b[C";
export const ESCAPE = "\u001b";
export const PAGE_DOWN = "\u001b[6~";

/** Runs `service listen` with these arguments on an emulated terminal, and resolves once it shows that it listens. */
export async function listenOnScreen(args: readonly string[], options: ScreenOptions): Promise<Screen> {
  const screen = openScreen(process.execPath, [BIN, "listen", ...args], options);
  await screen.shows("● Connected");
  return screen;
}

/** The rows of the list: those with a time of day. */
export const rowsOf = (screen: Screen): string[] =>
  screen.lines().filter((line) => /^(❯ | {2})\d\d:\d\d:\d\d /.test(line));

/** The row that is marked as selected. */
export const selectedRow = (screen: Screen): string | undefined => rowsOf(screen).find((line) => line.startsWith("❯"));

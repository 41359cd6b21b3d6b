import { expect, onTestFinished } from "vitest";
import { type RunningCommand, startCommand } from "../../support/running-command.ts";

/** A running command that follows a list. */
export interface Tail extends RunningCommand {
  until(condition: () => boolean): Promise<void>;
  /** Calls `provoke` until a line arrives, which shows that the command is ready. */
  begun(provoke: () => Promise<unknown>): Promise<void>;
}

/** Starts a command such as `events tail`, and interrupts it at the end of the test. */
export function startTail(args: readonly string[], env: Readonly<Record<string, string>>): Tail {
  const command = startCommand(args, { env });
  onTestFinished(async () => void (await command.interrupt()));
  return {
    ...command,
    until: (condition) => expect.poll(condition).toBe(true),
    begun: (provoke) =>
      expect
        .poll(
          async () => {
            await provoke();
            return command.lines.length;
          },
          { timeout: 60_000, interval: 200 },
        )
        .not.toBe(0),
  };
}

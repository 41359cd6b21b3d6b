import { type CommandProcess, type RunningCommand, spawnCommand, startCommand } from "./running-command.ts";

/** The real `service listen --json`. */
export type RunningListener<Command = RunningCommand> = Command & { secret: string };

type Env = Readonly<Record<string, string>>;

/** Starts it in this process, and resolves once the platform has confirmed the session. */
export const startListener = (env: Env, args: readonly string[]): Promise<RunningListener> =>
  confirmed(startCommand(["listen", "--json", ...args], { env }));

/** Starts it in a separate process, for tests that kill or inspect it. */
export const spawnListener = (env: Env, args: readonly string[]): Promise<RunningListener<CommandProcess>> =>
  confirmed(spawnCommand(["listen", "--json", ...args], { env }));

async function confirmed<Command extends RunningCommand>(command: Command): Promise<RunningListener<Command>> {
  const { secret } = await command.record(({ event }) => event === "ready");
  return { ...command, secret: String(secret) };
}

import { onTestFinished } from "vitest";
import { type RunningCommand, startCommand } from "../../support/running-command.ts";

/**
 * Starts `service webhooks capture` on a free port with `--json`, and resolves once it receives deliveries. It is
 * interrupted at the end of the test.
 */
export async function startCapture(args: readonly string[], cwd?: string): Promise<RunningCommand & { url: string }> {
  const command = startCommand(["webhooks", "capture", "--json", "--port", "0", ...args], { cwd });
  onTestFinished(async () => void (await command.interrupt()));
  const { url } = await command.record(({ event }) => event === "ready");
  return { ...command, url: String(url) };
}

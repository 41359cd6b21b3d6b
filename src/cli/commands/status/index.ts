import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { EXIT_CODES, type ExitCode, SilentExit } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { examine, type Status } from "./examine.ts";
import { STATUS } from "./view.ts";

/** `service status`. */
export function register(program: Command, context: Context): void {
  const status = program
    .command("status")
    .description(
      "Check the platform, its latency and versions, the local clock and the credential. Exits with 7 if the platform is unreachable, with 4 if you are not signed in.",
    )
    .action(() => runStatus(context));
  addExamples(addFields(status, STATUS), [
    "service status",
    "service status --live --profile shop",
    "service status --json --jq .platform.latency_ms",
  ]);
}

async function runStatus(context: Context): Promise<void> {
  const status = await examine(context);
  await context.output.object(status, STATUS);
  const exitCode = exitCodeOf(status);
  if (exitCode !== EXIT_CODES.ok) throw new SilentExit(exitCode);
}

function exitCodeOf({ platform, credential }: Status): ExitCode {
  if (!platform.reachable) return EXIT_CODES.unreachable;
  if (credential.state === "works") return EXIT_CODES.ok;
  return credential.state === "unknown" ? EXIT_CODES.failed : EXIT_CODES.notSignedIn;
}

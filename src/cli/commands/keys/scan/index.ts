import type { Command } from "commander";
import type { Context } from "../../../context.ts";
import { addExamples } from "../../../help-layout.ts";

export interface ScanFlags {
  staged?: true;
  history?: true;
  revoke?: true;
  yes?: true;
}

/** `service keys scan`. */
export function registerScan(keys: Command, context: Context): void {
  const scan = keys
    .command("scan")
    .description(
      "Find API keys, tokens and client secrets in files or in a git repository, without a network: their checksum tells real ones. Exits with 1 where one is found.",
    )
    .argument("[path]", "File or folder (default: here)")
    .option("--staged", "Scan what is about to be committed")
    .option("--history", "Scan all commits, messages, tags and names of the repository")
    .option("--revoke", "End each credential that was found")
    .option("--yes", "Do not ask before live credentials are ended")
    .addHelpText(
      "after",
      `
As a pre-commit hook, in .git/hooks/pre-commit (make it executable):
  #!/bin/sh
  exec service keys scan --staged

In folders, binary files of more than 1 MB are skipped, and so is .git. In a repository, no program that its
configuration names is run, and nothing is fetched. Signing secrets (whsec_…) have no checksum and are not looked for.`,
    )
    .action(async (path: string | undefined, flags: ScanFlags) => {
      const { runScan } = await import("./run.ts");
      await runScan(path ?? ".", flags, context);
    });
  addExamples(scan, [
    "service keys scan",
    "service keys scan --staged                  # before a commit",
    "service keys scan ~/src/shop --history --revoke",
  ]);
}

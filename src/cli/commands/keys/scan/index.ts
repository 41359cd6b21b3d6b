import type { Command } from "commander";
import type { Context } from "../../../context.ts";
import { addExamples } from "../../../help-layout.ts";
import type { ScanFlags } from "./run.ts";

/** `service keys scan`. */
export function registerScan(keys: Command, context: Context): void {
  const scan = keys
    .command("scan")
    .summary("Scan files or a git repository for leaked keys")
    .description(
      "Scan files or a git repository for API keys, tokens and client secrets. Works offline: checksums identify real credentials. Exits with 1 if one is found.",
    )
    .argument("[path]", "File or folder (default: current folder)")
    .option("--staged", "Scan the staged changes")
    .option("--history", "Scan all commits, messages, tags and names of the repository")
    .option("--revoke", "Revoke each credential that is found")
    .option("--yes", "Skip the confirmation before live credentials are revoked")
    .addHelpText(
      "after",
      `
As a pre-commit hook, in .git/hooks/pre-commit (an executable file):
  #!/bin/sh
  exec service keys scan --staged

Folders: binary files over 1 MB and .git are skipped. Repositories: programs that the repository's
configuration names are not run, and nothing is fetched. Signing secrets (whsec_…) have no checksum and are not detected.`,
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

import { relative, resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { EXIT_CODES, SilentExit, UsageError } from "../../../errors.ts";
import { printable } from "../../../terminal/printable.ts";
import { type Finding, withMaskedCredentials } from "./finding.ts";
import { scanHistory, scanStaged } from "./git.ts";
import type { ScanFlags } from "./index.ts";
import { type Outcome, revokeAll } from "./revoke.ts";
import { scanTree } from "./tree.ts";
import { FINDINGS, toEntry } from "./view.ts";

/** Import this module lazily. */
export async function runScan(given: string, flags: ScanFlags, context: Context): Promise<void> {
  if (flags.staged === true && flags.history === true)
    throw new UsageError("--staged cannot be combined with --history");
  const path = relative(context.cwd, resolve(context.cwd, given)) || ".";
  const { output } = context;
  const counts = { files: 0 };
  const findings = await output.spinner.during("Scanning", collect(context, path, flags, counts));
  const outcomes =
    flags.revoke === true && findings.length > 0
      ? await revokeAll(context, findings, flags)
      : new Map<string, Outcome>();
  if (findings.length === 0) {
    if (output.json) await output.document([]);
    return output.success(`No keys found${counts.files > 0 ? ` in ${counts.files} files` : ""}`);
  }
  await output.list(
    findings.map((finding) => toEntry(finding, outcomes.get(finding.secret))),
    FINDINGS,
  );
  const distinct = new Set(findings.map(({ secret }) => secret)).size;
  output.warn(conclusion(distinct, findings.length, flags, outcomes));
  throw new SilentExit(EXIT_CODES.failed);
}

async function collect(
  context: Context,
  path: string,
  { staged, history }: ScanFlags,
  counts: { files: number },
): Promise<Finding[]> {
  const { signal, output, env } = context;
  const source =
    staged === true
      ? scanStaged({ path, env, signal })
      : history === true
        ? scanHistory({ path, env, signal })
        : scanTree(path, {
            onFile: () => counts.files++,
            onUnreadable: (file, reason) =>
              output.warn(`Cannot read ${printable(withMaskedCredentials(file))} (${reason})`),
          });
  const findings: Finding[] = [];
  for await (const finding of source) {
    signal.throwIfAborted();
    findings.push(finding);
  }
  return findings;
}

function conclusion(
  distinct: number,
  places: number,
  { staged, revoke }: ScanFlags,
  outcomes: ReadonlyMap<string, Outcome>,
): string {
  const found = `${distinct} ${distinct === 1 ? "credential" : "credentials"} in ${places} ${places === 1 ? "place" : "places"}.`;
  if (revoke === true) {
    const alive = [...outcomes.values()].filter(({ revoked }) => !revoked).length;
    return alive === 0 ? `${found} All of them are invalid now.` : `${found} ${alive} could not be revoked.`;
  }
  return staged === true
    ? `${found} Remove it before you commit, and it need not be revoked.`
    : `${found} Removing it is not enough, because others may have read it. Revoke it with --revoke.`;
}

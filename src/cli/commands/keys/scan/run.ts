import { relative, resolve, sep } from "node:path";
import { counted } from "../../../../contract/words.ts";
import type { Context } from "../../../context.ts";
import { EXIT_CODES, SilentExit, UsageError } from "../../../errors.ts";
import { printable } from "../../../terminal/printable.ts";
import type { Column, ResourceView } from "../../../terminal/view.ts";
import { type Finding, masked, withMaskedCredentials } from "./finding.ts";
import { scanHistory, scanStaged } from "./git.ts";
import { type Outcome, revokeAll } from "./revoke.ts";
import { scanTree } from "./tree.ts";

interface ScanFlags {
  staged?: true;
  history?: true;
  revoke?: true;
  yes?: true;
}

export async function runScan(context: Context, named: string | undefined, flags: ScanFlags): Promise<void> {
  if (flags.staged === true && flags.history === true)
    throw new UsageError("--staged cannot be combined with --history");
  const given = named ?? ".";
  const inside = relative(context.cwd, resolve(context.cwd, given)) || ".";
  // A path that leads out of the folder is shown as it was typed.
  const path = inside.startsWith("..") ? given : inside;
  const { output } = context;
  const counts = { files: 0 };
  const findings = await output.spinner.during("Scanning", () => collect(context, path, flags, counts));
  const outcomes =
    flags.revoke === true && findings.length > 0
      ? await revokeAll(context, findings, flags.yes === true)
      : new Map<string, Outcome>();
  if (findings.length === 0) {
    if (output.json) await output.document([]);
    return output.success(`No keys found${counts.files > 0 ? ` in ${counted(counts.files, "file")}` : ""}`);
  }
  await output.list(
    findings.map((finding) => toEntry(finding, outcomes.get(finding.secret))),
    FINDINGS,
  );
  const distinct = new Set(findings.map(({ secret }) => secret)).size;
  output.warn(conclusion(distinct, findings.length, flags, outcomes));
  await noteOwnFiles(findings, context);
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
  const found = `${counted(distinct, "credential")} in ${counted(places, "place")}.`;
  if (revoke === true) {
    const alive = [...outcomes.values()].filter(({ revoked }) => !revoked).length;
    return alive === 0 ? `${found} All of them are invalid now.` : `${found} ${alive} could not be revoked.`;
  }
  return staged === true
    ? `${found} If you remove it before you commit, you do not need to revoke it.`
    : `${found} Removing them is not enough, because others may have read them. To revoke them, pass --revoke.`;
}

/** Says which of the files `service dev` wrote: a credential there has not leaked. */
async function noteOwnFiles(findings: readonly Finding[], context: Context): Promise<void> {
  const { projectFolder, cwd, output } = context;
  if (!context.hasProjectFile) return;
  const { OWN_FOLDER } = await import("../../../project/platform.ts");
  const envFile = await envFileOf(projectFolder);
  const own = new Set(
    findings.flatMap(({ path, commit }) => {
      const name = relative(projectFolder, resolve(cwd, path));
      return commit === null && (name.startsWith(OWN_FOLDER + sep) || name === envFile) ? [path] : [];
    }),
  );
  if (own.size === 0) return;
  output.notice(`\`service dev\` wrote ${[...own].map(printable).join(", ")} for this machine: keep them out of git.`);
}

/** Errors of the project file do not matter here. */
async function envFileOf(folder: string): Promise<string | undefined> {
  const { ProjectFileError, readProject } = await import("../../../project/read.ts");
  try {
    return readProject(folder, "env")?.project.env?.file;
  } catch (error) {
    if (error instanceof ProjectFileError) return undefined;
    throw error;
  }
}

export type FindingEntry = ReturnType<typeof toEntry>;

/** Returns a finding for output: enough to locate it, not enough to use it. */
function toEntry({ path, line, commit, kind, environment, secret }: Finding, outcome?: Outcome) {
  return {
    path: withMaskedCredentials(path),
    line,
    commit,
    kind,
    environment,
    credential: masked(secret),
    outcome: outcome?.description ?? null,
  };
}

const PLACE: Column<FindingEntry> = {
  label: "Place",
  text: ({ commit, path, line }) => `${commit === null ? "" : `${commit} `}${path}${line === null ? "" : `:${line}`}`,
  style: "strong",
};
const CREDENTIAL: Column<FindingEntry> = { label: "Credential", text: ({ credential }) => credential };
const KIND: Column<FindingEntry> = {
  label: "Kind",
  text: ({ kind, environment }) => `${environment ?? ""} ${kind.replace("_", " ")}`.trimStart(),
  styleOf: (_text, { environment }) => (environment === "live" ? "bad" : undefined),
};
const OUTCOME: Column<FindingEntry> = { label: "Outcome", text: ({ outcome }) => outcome ?? "", optional: true };

const FINDINGS: ResourceView<FindingEntry> = {
  noun: "finding",
  key: "path",
  fields: ["path", "line", "commit", "kind", "environment", "credential", "outcome"],
  columns: [PLACE, CREDENTIAL, KIND, OUTCOME],
  details: [PLACE, CREDENTIAL, KIND, OUTCOME],
};

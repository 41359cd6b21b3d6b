import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { devNull } from "node:os";
import { dirname } from "node:path";
import { shellCommand } from "../../../../contract/shell-command.ts";
import { UsageError, UserError } from "../../../errors.ts";
import { type Finding, findingsIn, MAX_CREDENTIAL_LENGTH, withoutNuls } from "./finding.ts";

/** A path inside a git repository, and the options of its git processes. */
interface Repository {
  path: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** Overrides configuration and attributes of the user or the repository that would hide or reformat changes. */
const PATCH_OPTIONS = [
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--text",
  "--unified=0",
  "--find-renames",
  "--no-relative",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];
/** Without these, git omits merged branches whose changes canceled out, and commits without a change. */
const EVERY_COMMIT = ["--all", "--full-history", "--sparse", "--no-follow"];

/**
 * A scanned repository may be untrusted, and its configuration can name programs for git to run. These settings
 * override it. The system's and the user's configuration still apply (`safe.directory`).
 */
const NO_PROGRAMS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "log.showSignature=false",
  "core.quotePath=false",
  "log.showRoot=true",
].flatMap((setting) => ["-c", setting]);
const NO_PROGRAMS_ENV = {
  // Git would otherwise refresh the index and write it, which runs a hook.
  GIT_OPTIONAL_LOCKS: "0",
  // A partial clone would fetch missing objects with a program that its remote names; git before 2.45 knows the second
  // only.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  // Shows the commits that a push would send.
  GIT_GRAFT_FILE: devNull,
};

/** A longer line is searched in pieces. */
const LINE_LENGTH = 16 * 1024 * 1024;
/** The characters before a line that tell whether it was added: one for each parent. */
const MAX_MARKS = 8;

/** Searches the staged changes. */
export function scanStaged(repository: Repository): AsyncGenerator<Finding> {
  return scanPatch(git(repository, ["diff", "--cached", "--diff-filter=d", ...PATCH_OPTIONS, "--", "."]));
}

/** Searches everything reachable from the refs of a repository: what each commit added, messages, names, and tags. */
export async function* scanHistory(repository: Repository): AsyncGenerator<Finding> {
  // The message is indented, so that a patch in it is not read as one.
  const format = `--format=${COMMIT_MARK}%h %an <%ae> %cn <%ce>%n%w(0,1,1)%B`;
  const log = ["log", "--no-show-signature", "--encoding=UTF-8", ...EVERY_COMMIT, "--patch", "-c", format];
  yield* scanPatch(git(repository, [...log, ...PATCH_OPTIONS, "--", "."]));
  yield* scanRefs(repository);
}

/** Searches the names of refs, and the objects that they reach other than through commits: tags, and their targets. */
async function* scanRefs(repository: Repository): AsyncGenerator<Finding> {
  const fields = "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname)";
  const commits: string[] = [];
  let hasOthers = false;
  for await (const { text } of git(repository, ["for-each-ref", fields])) {
    const [type, id, targetType, target, ...words] = text.split(" ");
    const name = words.join(" ");
    if (type === "commit") commits.push(`^${id}\n`);
    else hasOthers = true;
    if (targetType === "commit") commits.push(`^${target}\n`);
    yield* findingsIn(name, { path: utf8(name), line: null, commit: null });
  }
  if (!hasOthers) return;
  const names = new Map<string, string>();
  for await (const { text } of git(repository, ["rev-list", "--objects", "--all", "--stdin"], commits.join(""))) {
    const [id = "", ...name] = text.split(" ");
    names.set(id, utf8(name.join(" ")));
  }
  yield* scanObjects(
    git(repository, ["cat-file", "--batch"], [...names.keys()].map((id) => `${id}\n`).join("")),
    names,
  );
}

/** Searches objects as `git cat-file --batch` prints them: a line with ID, type and size, then the content. */
async function* scanObjects(
  lines: AsyncIterable<PatchLine>,
  names: ReadonlyMap<string, string>,
): AsyncGenerator<Finding> {
  let path = "";
  let line: number | null = 1;
  for await (const { text, ends } of lines) {
    const [, id = "", type] = /^([0-9a-f]{40,64}) (tag|blob|tree|commit) \d+$/.exec(text) ?? [];
    const name = names.get(id);
    if (name !== undefined) {
      path = type === "tag" ? `(tag ${name})` : `(${type} ${id.slice(0, 10)})`;
      // A tag's message follows its headers and an empty line.
      line = type === "tag" ? null : 1;
      continue;
    }
    for (const finding of findingsIn(withoutNuls(text), { path, line, commit: null })) yield finding;
    if (line === null) line = text === "" ? 1 : null;
    else if (ends) line += 1;
  }
}

/** Yields the lines that git prints. Throws UserError if git fails. */
async function* git({ path, env, signal }: Repository, args: readonly string[], input = ""): AsyncGenerator<PatchLine> {
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === false ? dirname(path) : path;
  const child = spawn("git", ["--no-pager", "--no-replace-objects", "-C", folder, ...NO_PROGRAMS, ...args], {
    env: { ...env, ...NO_PROGRAMS_ENV },
    stdio: "pipe",
    signal,
  });
  let stderrText = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderrText += text));
  const ended = once(child, "close") as Promise<[number | null]>;
  ended.catch(() => {});
  // Its exit code tells why it exited before the input was read.
  child.stdin.on("error", () => {}).end(input);
  child.stdout.setEncoding("latin1");
  yield* linesOf(child.stdout);
  const [code] = await ended.catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw signal.reason;
    throw error.code === "ENOENT"
      ? new UserError("git is not installed or not in PATH", { code: "git", cause: error })
      : error;
  });
  if (code === 0) return;
  // Outside a repository, git rejects the flags of `diff --cached` as invalid usage.
  if (code === USAGE) {
    throw new UsageError(`${path} is not in a git repository`, {
      code: "git",
      hint: shellCommand`To scan the files themselves: service keys scan ${path}`,
    });
  }
  const lines = stderrText.trim().split("\n");
  const message = (lines.findLast((line) => line.startsWith("fatal: ")) ?? lines.at(-1) ?? "").replace(/^fatal: /, "");
  throw new UserError(`Cannot read the git repository of ${path}: ${message}`, { code: "git", hint: hintOf(message) });
}

/** Git's exit code for a wrong command line. */
const USAGE = 129;

function hintOf(message: string): string | undefined {
  if (!/^unable to read|lazy fetching|missing (blob|tree|object)/i.test(message)) return undefined;
  return "If this is a partial clone, download all objects first, for example with a full clone.";
}

function utf8(text: string): string {
  return Buffer.from(text, "latin1").toString("utf8");
}

/** Only a line feed ends a line: text after a carriage return belongs to the line that git marked. */
async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<PatchLine> {
  let parts: string[] = [];
  let length = 0;
  for await (const piece of stream) {
    const lines = String(piece).split("\n");
    const rest = lines.pop()!;
    for (const line of lines) {
      yield { text: parts.join("") + line, ends: true };
      parts = [];
      length = 0;
    }
    parts.push(rest);
    length += rest.length;
    if (length < LINE_LENGTH) continue;
    const text = parts.join("");
    yield { text, ends: false };
    parts = [text.slice(0, MAX_MARKS), text.slice(-MAX_CREDENTIAL_LENGTH)];
    length = 0;
  }
  const last = parts.join("");
  if (last !== "") yield { text: last, ends: true };
}

/** Begins the line with a commit's abbreviated hash, author and committer. Its message follows, indented. */
const COMMIT_MARK = "\u0001commit ";

const COMMIT_MESSAGE = "(commit message)";
const HUNK = /^(@@+)(?: -\d+(?:,\d+)?)+ \+(\d+)(?:,\d+)? @@/;
/** Headers of a file whose name is new in this patch. */
const NEW_NAME = /^(?:new file mode \d|(?:rename|copy) to (?<path>.*))/;

/** A line, or a piece of a very long one. Each piece begins with the line's marks. */
interface PatchLine {
  text: string;
  /** False if more of the line follows. */
  ends: boolean;
}

/**
 * Searches the lines and file names that a patch adds, as `git diff` and `git log -p` print them. `git log -G` searches
 * neither file names nor text in UTF-16, and `git grep --cached` also finds keys that were committed earlier.
 */
async function* scanPatch(lines: AsyncIterable<PatchLine>): AsyncGenerator<Finding> {
  let commit: string | null = null;
  let header = "";
  let path = "";
  let line = 0;
  /** How many characters before each line tell whether it was added; 0 outside of a hunk. */
  let marks = 0;
  for await (const { text, ends } of lines) {
    if (text.startsWith(COMMIT_MARK)) {
      const [hash = "", ...people] = text.slice(COMMIT_MARK.length).split(" ");
      yield* findingsIn(people.join(" "), { path: "(commit author)", line: null, commit: hash });
      commit = hash;
      path = COMMIT_MESSAGE;
      line = 1;
      marks = 0;
      continue;
    }
    const hunk = HUNK.exec(text);
    if (hunk !== null) {
      marks = hunk[1]!.length - 1;
      line = Number(hunk[2]);
      continue;
    }
    if (text.startsWith("diff --")) {
      header = text;
      marks = 0;
      path = "";
      continue;
    }
    if (marks === 0 && path !== COMMIT_MESSAGE) {
      const added = NEW_NAME.exec(text);
      if (added !== null) {
        const name = added.groups?.["path"] === undefined ? pathOfHeader(header) : pathOf(added.groups["path"]);
        yield* findingsIn(name, { path: name, line: null, commit });
      }
      if (text.startsWith("+++ ")) path = pathOf(text.slice(4)).replace(/^b\//, "");
      continue;
    }
    const change = changeOf(text.slice(0, marks));
    if (change === "none") continue;
    if (marks === 0 || change === "added") {
      for (const finding of findingsIn(withoutNuls(text.slice(marks)), { path, line, commit })) yield finding;
    }
    if (ends) line++;
  }
}

/** "none" for a line that the new file does not have: a removed one, or a note (`\ No newline at end of file`). */
function changeOf(marks: string): "added" | "kept" | "none" {
  if (marks.startsWith("\\") || marks.includes("-")) return "none";
  return marks.includes("+") ? "added" : "kept";
}

/**
 * Returns the name in `diff --git a/NAME b/NAME`, whose halves are the same for a new file, or in `diff --combined
 * NAME`.
 */
function pathOfHeader(header: string): string {
  const names = header.slice(header.indexOf(" ", "diff ".length) + 1);
  if (!header.startsWith("diff --git ")) return pathOf(names);
  return pathOf(names.slice((names.length + 1) / 2)).replace(/^b\//, "");
}

/** git quotes what a shell would not accept as it is, and ends names that contain a space with a tab. */
function pathOf(text: string): string {
  const plain = text.replace(/\t$/, "").replace(/^"(.*)"$/, "$1");
  return utf8(plain);
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../../errors.ts";
import { COMMIT_MARK, type PatchLine, scanPatch } from "./diff.ts";
import { type Finding, LONGEST } from "./finding.ts";

/** What git would otherwise take from the person's own settings, and from attributes in the repository. */
const PLAIN = [
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--text",
  "--unified=0",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];
/** Without them git leaves out merged branches that changed nothing in the end, and commits without a change. */
const EVERY_COMMIT = ["--all", "--full-history", "--sparse"];
/** A line that is longer is searched in pieces. */
const LINE_LENGTH = 16 * 1024 * 1024;
/** The characters before a line that tell whether it was added: one for each parent. */
const MOST_MARKS = 8;

/** Looks at what is about to be committed. */
export function scanStaged(path: string, signal: AbortSignal): AsyncGenerator<Finding> {
  return scanPatch(git(path, ["diff", "--cached", "--diff-filter=d", ...PLAIN], signal));
}

/** Looks at what every commit of every branch added, and at its message; merges where they differ from all parents. */
export function scanHistory(path: string, signal: AbortSignal): AsyncGenerator<Finding> {
  // Indented, a message that holds a patch is no patch.
  const format = `--format=${COMMIT_MARK}%h%n%w(0,1,1)%B`;
  return scanPatch(git(path, ["log", ...EVERY_COMMIT, "--patch", "-c", format, ...PLAIN], signal));
}

/** The lines that git prints in the repository of a path, as they come. Throws UserError where it fails. */
async function* git(path: string, args: readonly string[], signal: AbortSignal): AsyncGenerator<PatchLine> {
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === false ? dirname(path) : path;
  const child = spawn(
    "git",
    ["-C", folder, "-c", "core.quotePath=false", "-c", "log.showRoot=true", ...args, "--", "."],
    {
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    },
  );
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const ended = once(child, "close") as Promise<[number | null]>;
  ended.catch(() => {});
  child.stdout.setEncoding("latin1");
  yield* linesOf(child.stdout);
  const [code] = await ended.catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw signal.reason;
    throw error.code === "ENOENT" ? new UserError("git was not found", { code: "git", cause: error }) : error;
  });
  if (code === 0) return;
  const words = complaint.trim().split("\n").at(-1) ?? "";
  throw new UserError(`git could not look into ${path}: ${words.replace(/^fatal: /, "")}`, { code: "git" });
}

/** Lines end with a line feed and nothing else: what stands behind a carriage return belongs to the line that git marked. */
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
    parts = [text.slice(0, MOST_MARKS), text.slice(-LONGEST)];
    length = 0;
  }
  const last = parts.join("");
  if (last !== "") yield { text: last, ends: true };
}

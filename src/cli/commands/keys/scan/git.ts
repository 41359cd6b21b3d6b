import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { UserError } from "../../../errors.ts";
import { COMMIT_MARK, scanPatch } from "./diff.ts";
import type { Finding } from "./finding.ts";

/** What git would otherwise take from the person's own settings. */
const PLAIN = ["--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/"];

/** Looks at what is about to be committed. */
export function scanStaged(path: string, signal: AbortSignal): AsyncGenerator<Finding> {
  return scanPatch(git(path, ["diff", "--cached", "--diff-filter=d", ...PLAIN], signal));
}

/** Looks at what every commit of every branch added, and at its message; merges where they differ from all parents. */
export function scanHistory(path: string, signal: AbortSignal): AsyncGenerator<Finding> {
  const format = `--format=${COMMIT_MARK}%h%n%B`;
  return scanPatch(git(path, ["log", "--all", "--patch", "-c", format, ...PLAIN], signal));
}

/** The lines that git prints in the repository of a path, as they come. Throws UserError where it fails. */
async function* git(path: string, args: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === false ? dirname(path) : path;
  const child = spawn("git", ["-C", folder, "-c", "core.quotePath=false", ...args, "--", "."], {
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const ended = once(child, "close") as Promise<[number | null]>;
  ended.catch(() => {});
  child.stdout.setEncoding("latin1");
  yield* createInterface({ input: child.stdout, crlfDelay: Infinity });
  const [code] = await ended.catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw signal.reason;
    throw error.code === "ENOENT" ? new UserError("git was not found", { code: "git", cause: error }) : error;
  });
  if (code === 0) return;
  const words = complaint.trim().split("\n").at(-1) ?? "";
  throw new UserError(`git could not look into ${path}: ${words.replace(/^fatal: /, "")}`, { code: "git" });
}

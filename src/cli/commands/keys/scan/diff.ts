import { type Finding, matchesIn, withoutNuls } from "./finding.ts";

/** Stands before each commit's hash and indented message in what `git log` is asked to print. */
export const COMMIT_MARK = "\u0001commit ";

const COMMIT_MESSAGE = "(commit message)";
const HUNK = /^(@@+) .*\+(\d+)(?:,\d+)? @@+/;

/** A line, or a piece of a very long one; each piece begins with the line's marks. */
export interface PatchLine {
  text: string;
  /** False where more of the line follows. */
  ends: boolean;
}

/** Looks through the lines that a patch adds, as `git diff` and `git log -p` print them. */
export async function* scanPatch(lines: AsyncIterable<PatchLine>): AsyncGenerator<Finding> {
  let commit: string | null = null;
  let path = "";
  let line = 0;
  /** How many characters before each line tell whether it was added; none outside of a hunk. */
  let marks = 0;
  for await (const { text, ends } of lines) {
    if (text.startsWith(COMMIT_MARK)) {
      commit = text.slice(COMMIT_MARK.length);
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
      marks = 0;
      path = "";
    } else if (marks === 0 && text.startsWith("+++ ")) {
      path = pathOf(text.slice(4));
    } else if (marks > 0 || path === COMMIT_MESSAGE) {
      const change = changeOf(text.slice(0, marks));
      if (change === "removed") continue;
      if (marks === 0 || change === "added") {
        for (const { index: _, ...match } of matchesIn(withoutNuls(text.slice(marks))))
          yield { ...match, path, line, commit };
      }
      if (ends) line++;
    }
  }
}

function changeOf(marks: string): "added" | "removed" | "kept" {
  if (marks.includes("-")) return "removed";
  return marks.includes("+") ? "added" : "kept";
}

/** git puts b/ before, and quotes around, what a shell would not read as it is. */
function pathOf(text: string): string {
  const plain = text.replace(/^"(.*)"$/, "$1").replace(/\t$/, "");
  return Buffer.from(plain.replace(/^b\//, ""), "latin1").toString("utf8");
}

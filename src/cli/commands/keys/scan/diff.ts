import { type Finding, matchesIn, withoutNuls } from "./finding.ts";

/** Begins the line with a commit's abbreviated hash, author and committer. Its message follows, indented. */
export const COMMIT_MARK = "\u0001commit ";

const COMMIT_MESSAGE = "(commit message)";
const HUNK = /^(@@+)(?: -\d+(?:,\d+)?)+ \+(\d+)(?:,\d+)? @@/;
/** Headers of a file whose name is new in this patch. */
const NEW_NAME = /^(?:new file mode \d|(?:rename|copy) to (?<path>.*))/;

/** A line, or a piece of a very long one. Each piece begins with the line's marks. */
export interface PatchLine {
  text: string;
  /** False if more of the line follows. */
  ends: boolean;
}

/** Searches the lines and file names that a patch adds, as `git diff` and `git log -p` print them. */
export async function* scanPatch(lines: AsyncIterable<PatchLine>): AsyncGenerator<Finding> {
  let commit: string | null = null;
  let header = "";
  let path = "";
  let line = 0;
  /** How many characters before each line tell whether it was added; 0 outside of a hunk. */
  let marks = 0;
  for await (const { text, ends } of lines) {
    if (text.startsWith(COMMIT_MARK)) {
      const [hash = "", ...people] = text.slice(COMMIT_MARK.length).split(" ");
      for (const match of matchesIn(people.join(" ")))
        yield { ...match, path: "(commit author)", line: null, commit: hash };
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
        for (const match of matchesIn(name)) yield { ...match, path: name, line: null, commit };
      }
      if (text.startsWith("+++ ")) path = pathOf(text.slice(4)).replace(/^b\//, "");
      continue;
    }
    const change = changeOf(text.slice(0, marks));
    if (change === "none") continue;
    if (marks === 0 || change === "added") {
      for (const match of matchesIn(withoutNuls(text.slice(marks)))) yield { ...match, path, line, commit };
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
  return Buffer.from(plain, "latin1").toString("utf8");
}

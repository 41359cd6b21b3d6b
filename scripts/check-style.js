// `npm run style`: finds phrases that CONTRIBUTING.md ("Style") replaces by the field's terms, in the pages, comments
// and texts of the areas below, and checks the subjects of the last commits. A line that needs such a phrase contains
// `style-ok` in a comment. An area joins the list once all of it passes.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const AREAS = [
  "*.md",
  "docs/*.md",
  "bench/limits.md",
  "src/client/**",
  "src/contract/**",
  "src/network/**",
  "src/relay/**",
  "src/webhooks/**",
];
/** Generated from other areas by `npm run docs`, and the log of changes. */
const GENERATED = new Set(["docs/commands.md", "CHANGELOG.md"]);
const COMMITS = 20;
const MAX_SUBJECT = 72;

/** Each phrase, and what to write instead. */
const RULES = [
  [/\bwhoever\b/i, "name the person or program"],
  [/\bbe it\b/i, "whether … or …"],
  [/\bso often\b/i, "this many times"],
  [/\bas many (\w+ )?as (it|they) may\b/i, "limit reached"],
  [/(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b|less\b|other\b|\w+ (?:for|in|on|to|that)\b)[a-z]+/, "is not a …"],
  [/\bgiven up\b/i, "failed; no more retries"],
  [/\banew\b/i, "again"],
  [/\b(?:lies|lie) (?:beside|behind|below|between|there)\b/i, "is beside, after, below …"],
  [/\bstands? (?:beside|there|below)\b/i, "is …"],
  [/\banswer(?:s|ed)? (?:with|by|at|for|\d{3})\b/i, "returns …"],
  [/\brefus(?:es?|als?)\b(?! the connection)/i, "reject, error response"],
  [/\breply|\breplies\b/i, "response"],
  [/\blooks? after\b/i, "manage"],
  [/\b(?:is|are|was|were) told\b/i, "receives, is notified"],
  [/\b(?:given|put) out\b/i, "issued"],
  [/\bso many\b/i, "this many"],
  [/\bkept for \d/i, "retained for"],
  [/\bMOST_|[a-z]Most\b/, "max"],
];

const git = (...args) => execFileSync("git", args, { encoding: "utf8" });
const complaints = [];

for (const file of git("ls-files", "--", ...AREAS.map((area) => `:(glob)${area}`)).split("\n")) {
  if (file === "" || GENERATED.has(file)) continue;
  const isPage = file.endsWith(".md");
  let isCode = false;
  readFileSync(file, "utf8")
    .split("\n")
    .forEach((line, index) => {
      if (isPage && line.startsWith("```")) isCode = !isCode;
      if (isCode || line.includes("style-ok")) return;
      const text = isPage ? withoutCode(line) : proseOf(line);
      for (const [phrase, instead] of RULES) {
        const found = phrase.exec(text);
        if (found !== null) complaints.push(`${file}:${index + 1}: "${found[0]}": ${instead}`);
      }
    });
}

for (const subject of git("log", `-${COMMITS}`, "--no-merges", "--format=%s").trimEnd().split("\n")) {
  if (subject.length > MAX_SUBJECT) complaints.push(`commit "${subject}": more than ${MAX_SUBJECT} characters`);
  if (!/^[A-Z].*[^.]$/.test(subject))
    complaints.push(`commit "${subject}": start with a capital letter, without a period`);
}

if (complaints.length > 0) {
  process.stderr.write(`${complaints.join("\n")}\n${complaints.length} phrases to rewrite\n`);
  process.exitCode = 1;
}

/** Returns the comments and the longer strings of a line of code. */
function proseOf(line) {
  const comment = /^\s*(?:\/\/|\/?\*)(.*)/.exec(line);
  if (comment !== null) return withoutCode(comment[1]);
  const strings = line.match(/"[^"\n]{12,}"|`[^`\n]{12,}`/g) ?? [];
  return [...strings, / \/\/ (.*)/.exec(line)?.[1] ?? ""].join(" ").replace(/\$\{[^}]*\}/g, "");
}

/** Removes what is between backticks, also where the closing one is on the next line. */
function withoutCode(text) {
  return text.replace(/`[^`]*(?:`|$)/g, "");
}

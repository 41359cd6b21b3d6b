// `npm run style`: finds phrases that CONTRIBUTING.md ("Style") replaces by the field's terms, in pages, comments, texts
// and test names, and checks the subjects of the last commits. A line that needs such a phrase contains `style-ok` in a
// comment.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const AREAS = ["*.md", "docs/*.md", "test/*.md", "bench/**", "scripts/**", "soak/**", "src/**"];
/** Written by `npm run docs` and `npm run bench`. */
const GENERATED = new Set(["docs/commands.md", "bench/RESULTS.md"]);
/** Comments and test names are checked, but not other strings: many are input that the platform must handle. */
const TESTS = ["test/**/*.ts", "test/**/*.js"];
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
  [/\bspecification \d/i, "give the reason, or a public source"],
  [/\bkept for \d/i, "retained for"],
  [/\bgoes on\b/i, "continues"],
  [/\bby hand\b/i, "manually"],
  [/\bunder way\b/i, "in flight"],
  [/\bsomebody\b|\bnobody\b(?! (?:else|can|waits|has|is|tells|needs|types|stands)\b)/i, "name the person or program"],
  [/\bof others\b/i, "third-party, other …"],
  [/\b[Tt]rue where\b|\b[Uu]ndefined where\b/, "true if …, undefined if …"],
  [/\bcolour|\bbehaviour|\bcancelled\b|\bsynchronis/i, "American spelling"],
  [/\bmisspelt\b/i, "misspelled"],
  [/\bMOST_|\b(?!atMost\b)\w+Most\b/, "max"],
];

/** Beginnings of test names that do not form a sentence, even with their describe. */
const NAME_RULES = [
  [/^that\b/, "start with the behavior"],
  [/^(?:and|or|so) /, "name the behavior by itself"],
  [/^what /, "name the thing"],
  [/^is no /, "rejects …, is not a …"],
];
/** Verbs with which a test name begins only inside of a describe, which names the subject. */
const VERBS =
  /^(?:accepts|adds|asks|attempts|claims|closes|compiles|creates|delivers|does|enables|ends|exits|explains|fails|finds|finishes|forwards|gets|gives|has|hides|ignores|is|keeps|loses|makes|names|needs|prints|reads|rejects|remembers|removes|reports|requires|resends|reserves|responds|retries|returns|runs|says|sends|shows|starts|stops|stores|suggests|takes|uses|waits|works|writes)\b/;

const git = (...args) => execFileSync("git", args, { encoding: "utf8" });
const complaints = [];

for (const file of filesIn(AREAS)) {
  if (GENERATED.has(file)) continue;
  const isPage = file.endsWith(".md");
  let isCode = false;
  checkLines(file, (line) => {
    if (isPage && line.startsWith("```")) isCode = !isCode;
    if (isCode) return "";
    return isPage ? withoutCode(line) : `${commentOf(line)} ${stringsOf(line)}`;
  });
}

for (const file of filesIn(TESTS)) {
  checkLines(file, commentOf);
  for (const [, name] of readFileSync(file, "utf8").matchAll(
    /(?:\b(?:it|describe|itInBrowser)|\))\(\s*["`]([^"`\n]+)["`],\s+(?:async )?\(/g,
  )) {
    for (const [phrase, instead] of [...RULES, ...NAME_RULES]) {
      const found = phrase.exec(name);
      if (found !== null) complaints.push(`${file}: test name "${name}": ${instead}`);
    }
  }
  for (const [, name] of readFileSync(file, "utf8").matchAll(
    /^(?:it|itInBrowser|\])(?:.*\))?\(\s*["`]([^"`\n]+)["`], /gm,
  )) {
    if (VERBS.test(name))
      complaints.push(`${file}: test name "${name}": begin with the subject, outside of a describe`);
  }
}

const own = ownSubjects();
for (const subject of own.length > 0 ? own : subjectsOf(`-${COMMITS}`)) {
  if (subject.length > MAX_SUBJECT) complaints.push(`commit "${subject}": more than ${MAX_SUBJECT} characters`);
  // `listen: keep the window when the receiver is slow`, or a sentence.
  if (!/^([A-Z]|[a-z][\w ,-]*: \S).*[^.]$/.test(subject))
    complaints.push(`commit "${subject}": write "area: effect", or start with a capital letter; without a period`);
}
for (const subject of own) {
  for (const [phrase, instead] of RULES) {
    if (phrase.test(subject)) complaints.push(`commit "${subject}": ${instead}`);
  }
}

if (complaints.length > 0) {
  process.stderr.write(`${complaints.join("\n")}\n${complaints.length} phrases to rewrite\n`);
  process.exitCode = 1;
}

function filesIn(areas) {
  return git("ls-files", "--", ...areas.map((area) => `:(glob)${area}`))
    .split("\n")
    .filter((file) => file !== "");
}

/** Checks the text that `proseOf` returns for each line. */
function checkLines(file, proseOf) {
  readFileSync(file, "utf8")
    .split("\n")
    .forEach((line, index) => {
      const text = proseOf(line);
      if (line.includes("style-ok")) return;
      for (const [phrase, instead] of RULES) {
        const found = phrase.exec(text);
        if (found !== null) complaints.push(`${file}:${index + 1}: "${found[0]}": ${instead}`);
      }
    });
}

/** Returns the comment on a line of code, without code in backticks. */
function commentOf(line) {
  return withoutCode((/^\s*(?:\/\/|\/?\*)(.*)/.exec(line) ?? / \/\/ (.*)/.exec(line))?.[1] ?? "");
}

/** Returns the longer strings on a line of code. */
function stringsOf(line) {
  if (/^\s*(?:\/\/|\/?\*)/.test(line)) return "";
  const strings = line.match(/"[^"\n]{12,}"|`[^`\n]{12,}`/g) ?? [];
  return strings.join(" ").replace(/\$\{[^}]*\}/g, "");
}

/** Removes what is between backticks, also where the closing one is on the next line. */
function withoutCode(text) {
  return text.replace(/`[^`]*(?:`|$)/g, "");
}

function subjectsOf(range) {
  return git("log", range, "--no-merges", "--format=%s")
    .split("\n")
    .filter((subject) => subject !== "");
}

/** Returns the subjects of the commits since the branch left `main`. */
function ownSubjects() {
  try {
    return subjectsOf(`${git("merge-base", "main", "HEAD").trim()}..HEAD`);
  } catch {
    // A checkout of CI may have no branch of that name.
    return [];
  }
}

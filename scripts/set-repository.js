// Sets where the package comes from, in package.json, the pages of the package and its action:
// `node scripts/set-repository.js https://github.com/acme/service`. With --check, fails while something is not set,
// since `npm publish --provenance` compares the URL with the publishing repository.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PLACEHOLDER_PATH = "OWNER/REPOSITORY";
const PLACEHOLDER = `https://github.com/${PLACEHOLDER_PATH}`;
const root = fileURLToPath(new URL("..", import.meta.url));
const markdown = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const pages = ["README.md", ...markdown.map((name) => `docs/${name}`), "action.yml"];
const manifest = JSON.parse(read("package.json"));
const current = manifest.bugs.url.replace(/\/issues$/, "");
const [given = ""] = process.argv.slice(2);
const url = given.replace(/(\.git|\/)$/, "");

if (given === "--check") {
  const unset = ["package.json", ...pages].filter((file) => read(file).includes(PLACEHOLDER_PATH));
  if (unset.length === 0) process.exit(0);
  fail(`${unset.join(", ")}: no repository; run \`node scripts/set-repository.js ${PLACEHOLDER}\``);
}
if (!/^https:\/\/[\w.-]+(\/[\w.-]+){2,}$/.test(url))
  fail("Usage: node scripts/set-repository.js <https URL of the repository>");
manifest.repository = { type: "git", url: `git+${url}.git` };
manifest.homepage = `${url}#readme`;
manifest.bugs = { url: `${url}/issues` };
writeFileSync(join(root, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
for (const page of pages) {
  // A workflow names the repository without its host.
  const text = read(page).replaceAll(current, url).replaceAll(PLACEHOLDER_PATH, new URL(url).pathname.slice(1));
  writeFileSync(join(root, page), text);
}

function read(file) {
  return readFileSync(join(root, file), "utf8");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

// Sets where the package comes from: `node scripts/set-repository.js https://github.com/acme/service`. It fills in
// package.json, and completes links of the pages in the package to files that are only in the repository. With --check,
// fails while something is not set, since `npm publish --provenance` compares the URL with the publishing repository.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PLACEHOLDER_PATH = "OWNER/REPOSITORY";
const PLACEHOLDER = `https://github.com/${PLACEHOLDER_PATH}`;
const root = fileURLToPath(new URL("..", import.meta.url));
const markdown = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const pages = ["README.md", ...markdown.map((name) => `docs/${name}`)];
const manifest = JSON.parse(read("package.json"));
const current = manifest.bugs.url.replace(/\/issues$/, "");
const [given = ""] = process.argv.slice(2);
const url = given.replace(/(\.git|\/)$/, "");

if (given === "--check") {
  const unset = ["package.json", ...pages].filter(
    (file) => read(file).includes(PLACEHOLDER_PATH) || linksOf(file).length > 0,
  );
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
  let text = read(page).replaceAll(current, url).replaceAll(PLACEHOLDER_PATH, new URL(url).pathname.slice(1));
  for (const { link, path, anchor } of linksOf(page)) text = text.replace(link, `](${url}/blob/HEAD/${path}${anchor})`);
  writeFileSync(join(root, page), text);
}

/** Returns the links of a page to files that are not in the package. */
function linksOf(page) {
  return [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g)]
    .map(([link, target, anchor = ""]) => ({ link, path: join(dirname(page), target), anchor }))
    .filter(({ path }) => !/^(README\.md|CHANGELOG\.md|LICENSE|docs\/(?!contributors\/))/.test(path));
}

function read(file) {
  return readFileSync(join(root, file), "utf8");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

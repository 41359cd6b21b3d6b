// Sets where the package comes from: `node scripts/set-repository.js https://github.com/acme/service`. With --check, fails
// while package.json has placeholders, since `npm publish --provenance` compares the URL with the publishing repository.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package.json", import.meta.url);
const manifest = JSON.parse(readFileSync(file, "utf8"));
const [given = ""] = process.argv.slice(2);
const url = given.replace(/(\.git|\/)$/, "");

if (given === "--check") {
  if (!manifest.bugs.url.includes("/OWNER/")) process.exit(0);
  fail("package.json has no repository: run `node scripts/set-repository.js https://github.com/OWNER/REPOSITORY`");
}
if (!/^https:\/\/[\w.-]+(\/[\w.-]+){2,}$/.test(url))
  fail("Usage: node scripts/set-repository.js <https URL of the repository>");
manifest.repository = { type: "git", url: `git+${url}.git` };
manifest.homepage = `${url}#readme`;
manifest.bugs = { url: `${url}/issues` };
writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);

function fail(message) {
  console.error(message);
  process.exit(1);
}

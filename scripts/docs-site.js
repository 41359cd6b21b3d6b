// `npm run docs:site -- FOLDER`: writes the guides and the API reference as static files for any host.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("Usage: npm run docs:site -- <folder>");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const guides = join(root, "dist/dashboard/guides");
for (const name of readdirSync(guides)) {
  if (!/\.(html|json)$/.test(name)) cpSync(join(guides, name), join(folder, name));
  else writeFileSync(join(folder, name), relative(readFileSync(join(guides, name), "utf8")));
}
for (const [name, text] of await reference()) writeFileSync(join(folder, name), text);
console.log(join(folder, "index.html"));

/** Links of the platform become files of the site. */
function relative(text) {
  return text
    .replaceAll(/"\/docs\/guides\/([\w.-]*)/g, '"$1')
    .replaceAll(/"\/docs\/reference(#[\w-]*)?"/g, '"api.html$1"')
    .replaceAll(/"\/docs\/reference\/([\w-]+\.html)(#[\w-]*)?"/g, '"reference-$1$2"')
    .replaceAll(/"\/problems"/g, '"errors.html"')
    .replaceAll(/"\/problems\/(\w+)"/g, '"errors.html#$1"')
    .replaceAll('"/openapi.json"', '"openapi.json"')
    .replaceAll(/ ?<a href="\/dashboard">[^<]*<\/a>/g, "");
}

function unrooted(text) {
  return text.replaceAll("/dashboard/assets/", "");
}

/** Returns the files of the API reference by name, from a platform that runs for as long. */
async function reference() {
  const serve = spawn(
    process.execPath,
    [
      join(root, "bin/service.js"),
      "serve",
      "--ephemeral",
      "--port",
      "0",
      "--public-url",
      "http://127.0.0.1:4010",
      "--json",
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const [line] = await once(createInterface(serve.stdout), "line");
    const { listen_url: url } = JSON.parse(line);
    const textOf = async (path) => (await fetch(url + path)).text();
    const linkedFrom = (text, pattern) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name))];
    const start = await textOf("/docs/reference");
    const names = linkedFrom(start, /"\/docs\/reference\/([\w-]+)/g);
    const pages = [
      ["api.html", start],
      ["openapi.json", await textOf("/openapi.json")],
    ];
    for (const name of names) pages.push([`reference-${name}.html`, await textOf(`/docs/reference/${name}.html`)]);
    const paths = linkedFrom(pages.map(([, text]) => text).join(""), /"\/dashboard\/assets\/([^"]+)"/g);
    const assets = await Promise.all(paths.map(async (name) => [name, await textOf(`/dashboard/assets/${name}`)]));
    return [
      ...pages.map(([name, text]) => [name, unrooted(relative(text))]),
      ...assets.map(([name, text]) => [name, unrooted(text)]),
    ];
  } finally {
    serve.kill();
    await once(serve, "exit");
  }
}

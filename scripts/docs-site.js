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
const { page, assets } = await reference();
writeFileSync(join(folder, "api.html"), page);
for (const [name, text] of assets) writeFileSync(join(folder, name), text);
console.log(join(folder, "index.html"));

/** Links of the platform become files of the site. */
function relative(text) {
  return text
    .replaceAll('"/docs/guides"', '"index.html"')
    .replaceAll(/"\/docs(#[\w-]*)?"/g, '"api.html$1"')
    .replaceAll(/"\/problems(\/\w+)?"/g, '"errors.html"')
    .replaceAll(/ ?<a href="\/(dashboard|openapi\.json)">[^<]*<\/a>/g, "");
}

function unrooted(text) {
  return text.replaceAll("/dashboard/assets/", "");
}

/** Returns the page of the API reference, and what it loads, from a platform that runs for as long. */
async function reference() {
  const serve = spawn(
    process.execPath,
    [join(root, "bin/service.js"), "serve", "--ephemeral", "--port", "0", "--json"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const [line] = await once(createInterface(serve.stdout), "line");
    const { base_url: url } = JSON.parse(line);
    const text = await (await fetch(`${url}/docs`)).text();
    const paths = [...new Set([...text.matchAll(/"(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path))];
    const assets = paths.map(async (path) => [
      path.split("/").at(-1),
      unrooted(await (await fetch(url + path)).text()),
    ]);
    const page = unrooted(relative(text)).replaceAll(url, "http://127.0.0.1:4010");
    return { page, assets: await Promise.all(assets) };
  } finally {
    serve.kill();
    await once(serve, "exit");
  }
}

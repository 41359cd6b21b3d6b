import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A built file as it is sent. */
export interface Asset {
  mediaType: string;
  bytes: Buffer;
  gzipped: Buffer;
}

/** The dashboard as it was built: files with hashed names, the page that loads them, and those of the API reference. */
export interface Assets {
  files: ReadonlyMap<string, Asset>;
  icon: Asset;
  page: string;
  /** Paths of the files that the API reference loads. */
  reference: { script: string; style: string; icon: string };
}

const MEDIA_TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

interface Manifest {
  script: string;
  style: string;
  icon: string;
  /** Scripts that the first page imports. Preloaded, so that they do not load one after the other. */
  preload: string[];
  reference: { script: string; style: string };
}

/** Reads the built files. Returns undefined if the dashboard was not built. */
export function loadAssets(folder: string): Assets | undefined {
  const manifestFile = join(folder, "manifest.json");
  if (!existsSync(manifestFile)) return undefined;
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Manifest;
  const files = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const mediaType = MEDIA_TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (mediaType === undefined) continue;
    const file = join(folder, name);
    files.set(name, { mediaType, bytes: readFileSync(file), gzipped: readFileSync(`${file}.gz`) });
  }
  const { icon, reference } = manifest;
  const paths = { script: pathOf(reference.script), style: pathOf(reference.style), icon: pathOf(icon) };
  return { files, icon: files.get(icon)!, page: pageOf(manifest), reference: paths };
}

function pathOf(name: string): string {
  return `/dashboard/assets/${name}`;
}

function pageOf({ script, style, icon, preload }: Manifest): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Dashboard · Service</title>
<link rel="icon" href="${pathOf(icon)}">
<link rel="stylesheet" href="${pathOf(style)}">
${preload.map((name) => `<link rel="modulepreload" href="${pathOf(name)}">`).join("\n")}
<script type="module" src="${pathOf(script)}"></script>
</head>
<body>
<div id="dashboard"></div>
<noscript>
<p>The dashboard runs in the browser and needs JavaScript. The command line does all of it too: <code>service --help</code>.</p>
</noscript>
</body>
</html>
`;
}

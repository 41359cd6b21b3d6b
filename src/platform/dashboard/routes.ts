import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { mediaTypeOf } from "../http/send.ts";
import { PageError, scriptedPageHeaders, seeOther } from "../http/pages/page.ts";
import type { BrowserSessions } from "../oauth/browser-sessions.ts";
import { ACCOUNT, askToSignIn, HOME } from "../oauth/views.ts";

/** A built file as it is sent. */
interface Asset {
  mediaType: string;
  bytes: Buffer;
  /** The compressed file; undefined for a font, which is compressed already. */
  gzipped: Buffer | undefined;
}

/** The dashboard as it was built: files with hashed names, the page that loads them, and those of the API reference. */
export interface Assets {
  files: ReadonlyMap<string, Asset>;
  icon: Asset;
  page: string;
  /** Paths of the files that the API reference loads. */
  reference: { script: string; style: string; icon: string };
}

interface Manifest {
  script: string;
  style: string;
  icon: string;
  /** Scripts that the first page imports. Preloaded, so that they do not load one after the other. */
  preload: string[];
  reference: { script: string; style: string };
}

const MANIFEST = "manifest.json";

/** Reads the built files. Returns undefined if the dashboard was not built. */
export function loadAssets(folder: string): Assets | undefined {
  const manifestFile = join(folder, MANIFEST);
  if (!existsSync(manifestFile)) return undefined;
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Manifest;
  const files = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const mediaType = mediaTypeOf(name);
    if (mediaType === undefined || name === MANIFEST) continue;
    const file = join(folder, name);
    const gzipped = existsSync(`${file}.gz`) ? readFileSync(`${file}.gz`) : undefined;
    files.set(name, { mediaType, bytes: readFileSync(file), gzipped });
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
<link rel="preload" as="font" type="font/woff2" href="${pathOf("inter.woff2")}" crossorigin>
<link rel="stylesheet" href="${pathOf(style)}">
${preload.map((name) => `<link rel="modulepreload" href="${pathOf(name)}">`).join("\n")}
<script type="module" src="${pathOf(script)}"></script>
</head>
<body>
<div id="dashboard"></div>
<noscript>
<p>The dashboard runs in the browser and needs JavaScript. The CLI has the same features: <code>service --help</code>.</p>
</noscript>
</body>
</html>
`;
}

const YEAR_SECONDS = 31_536_000;
const DAY_SECONDS = 86_400;
const PAGE_HEADERS = scriptedPageHeaders("'self'");

/** Returns the dashboard's page for URLs below it that lead nowhere. */
export function pageOfBadUrl(url: string): string | undefined {
  if (!url.startsWith(`${HOME}/`)) return undefined;
  return `${HOME}/${url.startsWith(`${HOME}/live/`) ? "live" : "sandbox"}/not-found`;
}

/** Serves the dashboard: one page for every path below /dashboard, which uses only the public API. */
export function dashboardRoutes(scope: FastifyInstance, browserSessions: BrowserSessions, assets: Assets | undefined) {
  scope.get(`${HOME}/assets/:name`, { config: { quiet: true } }, async (request, reply) => {
    const { name } = request.params as { name: string };
    const asset = assets?.files.get(name);
    if (asset === undefined) throw new PageError(404, "Not found", "This file does not exist.");
    const isHashed = /-[A-Z0-9]{8}\./.test(name);
    void reply.header(
      "Cache-Control",
      isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : `public, max-age=${DAY_SECONDS}`,
    );
    return sendAsset(reply, asset, /\bgzip\b/.test(request.headers["accept-encoding"] ?? ""));
  });

  // Browsers ask for it on pages that name no icon, and take an SVG under this name.
  scope.get("/favicon.ico", { config: { quiet: true } }, async (_request, reply) => {
    if (assets === undefined) throw new PageError(404, "Nothing is here", "The dashboard was not built.");
    const { mediaType, bytes } = assets.icon;
    return reply
      .header("Content-Type", mediaType)
      .header("Cache-Control", `public, max-age=${DAY_SECONDS}`)
      .send(bytes);
  });

  const show = async (request: Parameters<BrowserSessions["of"]>[0], reply: FastifyReply) => {
    const browser = await browserSessions.of(request, reply);
    if (browser.user === undefined) return askToSignIn(reply, browserSessions, browser, request.url);
    // The page for sign-in details needs no built files.
    if (assets === undefined) return seeOther(reply, ACCOUNT);
    return reply
      .header("Content-Type", "text/html; charset=utf-8")
      .headers(PAGE_HEADERS)
      .header("Cross-Origin-Resource-Policy", "same-origin")
      .send(assets.page);
  };
  scope.get(HOME, show);
  scope.get(`${HOME}/*`, show);
  // Readers of the command's documentation type its name.
  for (const path of ["/why", "/why/:id"]) {
    scope.get(path, (request, reply) => seeOther(reply, `${HOME}/sandbox${request.url}`));
  }
}

function sendAsset(reply: FastifyReply, { mediaType, bytes, gzipped }: Asset, gzip: boolean): FastifyReply {
  void reply
    .header("Content-Type", mediaType)
    .header("Cross-Origin-Resource-Policy", "same-origin")
    .header("Vary", "Accept-Encoding");
  return gzip && gzipped !== undefined ? reply.header("Content-Encoding", "gzip").send(gzipped) : reply.send(bytes);
}

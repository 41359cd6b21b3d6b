import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiError } from "../domain/api-error.ts";
import { REFERENCE_POLICY, referencePage } from "./reference-page.ts";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { PROBLEMS_PATH } from "../http/problem.ts";
import { sendPage } from "../pages/page.ts";
import type { Services } from "../services.ts";
import { problemIndexPage, problemPage, unknownProblemPage } from "./problem-views.ts";

const DOCS_PATH = "/docs";
const YEAR_SECONDS = 31_536_000;

/** The package's files as built: compressed. */
const FILES = {
  script: { name: "swagger-ui-bundle.js", mediaType: "text/javascript; charset=utf-8" },
  style: { name: "swagger-ui.css", mediaType: "text/css; charset=utf-8" },
};

interface Asset {
  url: string;
  mediaType: string;
  gzipped: Buffer;
}

/** The API reference for readers. `folder` holds the built files, which are read at the first request. */
export function referenceRoutes(app: FastifyInstance, folder: string): void {
  let loaded: { script: Asset; style: Asset } | undefined;
  const load = () => (loaded ??= { script: read(folder, FILES.script), style: read(folder, FILES.style) });

  const show = (reply: FastifyReply) => {
    const { script, style } = load();
    return reply
      .header("Content-Type", "text/html; charset=utf-8")
      .header("Content-Security-Policy", REFERENCE_POLICY)
      .header("Cache-Control", "no-cache")
      .header("X-Frame-Options", "DENY")
      .header("Referrer-Policy", "no-referrer")
      .header("Cross-Origin-Opener-Policy", "same-origin")
      .send(referencePage({ script: script.url, style: style.url }));
  };
  app.get(DOCS_PATH, async (_request, reply) => show(reply));
  app.get(`${DOCS_PATH}/`, async (_request, reply) => show(reply));
  app.get(`${DOCS_PATH}/:file`, { config: { quiet: true } }, async (request, reply) => {
    const asset = Object.values(load()).find(({ url }) => url === request.url);
    if (asset === undefined) throw new ApiError("not_found", `The API reference has no such file: see ${DOCS_PATH}.`);
    void reply
      .header("Content-Type", asset.mediaType)
      .header("Cache-Control", `public, max-age=${YEAR_SECONDS}, immutable`)
      .header("Cross-Origin-Resource-Policy", "same-origin")
      .header("Vary", "Accept-Encoding");
    if (!/\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) return reply.send(gunzipSync(asset.gzipped));
    return reply.header("Content-Encoding", "gzip").send(asset.gzipped);
  });
}

/** A file whose name changes with its content, so that browsers may cache it permanently. */
function read(folder: string, { name, mediaType }: { name: string; mediaType: string }): Asset {
  const gzipped = readFileSync(join(folder, `${name}.gz`));
  const hash = createHash("sha256").update(gzipped).digest("hex").slice(0, 12);
  const dot = name.lastIndexOf(".");
  return { url: `${DOCS_PATH}/${name.slice(0, dot)}-${hash}${name.slice(dot)}`, mediaType, gzipped };
}

/** Serves the documentation: a page for every error code, and the API reference if its built files are given. */
export function registerDocs(app: FastifyInstance, services: Services, reference: string | undefined): void {
  if (reference !== undefined) referenceRoutes(app, reference);
  app.get(PROBLEMS_PATH, async (_request, reply) => sendPage(reply, 200, problemIndexPage()));
  app.get<{ Params: { code: string } }>(`${PROBLEMS_PATH}/:code`, async ({ params: { code } }, reply) =>
    Object.hasOwn(ERRORS, code)
      ? sendPage(reply, 200, problemPage(code as ErrorCode, services.baseUrl))
      : sendPage(reply, 404, unknownProblemPage()),
  );
}

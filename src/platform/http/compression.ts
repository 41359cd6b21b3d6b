import { brotliCompress, type CompressCallback, constants, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply } from "fastify";

const MIN_LENGTH = 1024;
/** Compresses JSON about as well as gzip does, in less time. */
const BROTLI_QUALITY = 4;

const COMPRESSORS = {
  br: (json: string | Buffer, done: CompressCallback) =>
    brotliCompress(json, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }, done),
  gzip: (json: string | Buffer, done: CompressCallback) => gzip(json, done),
};

type Coding = keyof typeof COMPRESSORS;
const CODINGS = Object.keys(COMPRESSORS) as Coding[];

declare module "fastify" {
  interface FastifyContextConfig {
    /** Compresses what is not JSON, too: for text without secrets. */
    compress?: true;
  }
}

/**
 * Compresses JSON and the documentation for clients that accept it, in Node's thread pool. Other pages are not
 * compressed: their forms contain tokens, which the length of compressed text could reveal.
 */
export function compressResponses(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return done(null, payload);
    const isCompressible = isJson(reply) || (request.routeOptions.config.compress === true && isText(reply));
    if (payload.length < MIN_LENGTH || !isCompressible) return done(null, payload);
    void reply.header("Vary", "Accept-Encoding");
    const coding = preferredCoding(request.headers["accept-encoding"]);
    if (coding === undefined) return done(null, payload);
    COMPRESSORS[coding](payload, (error, bytes) => {
      if (error !== null) return done(null, payload);
      void reply.header("Content-Encoding", coding).removeHeader("Content-Length");
      done(null, bytes);
    });
  });
}

function isJson(reply: FastifyReply): boolean {
  return /^application\/(problem\+)?json\b/.test(mediaTypeOf(reply));
}

function isText(reply: FastifyReply): boolean {
  return /^(text\/|image\/svg)/.test(mediaTypeOf(reply));
}

function mediaTypeOf(reply: FastifyReply): string {
  return String(reply.getHeader("Content-Type") ?? "");
}

/** Returns the coding with the greatest weight, preferring brotli (RFC 9110 12.5.3). */
function preferredCoding(header: string | string[] | undefined): Coding | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of String(header).split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get("*") ?? 0;
  const [best] = CODINGS.filter((coding) => weightOf(coding) > 0).sort((a, b) => weightOf(b) - weightOf(a));
  // `identity` is preferred only if the client says so.
  return best !== undefined && weightOf(best) < (weights.get("identity") ?? 0) ? undefined : best;
}

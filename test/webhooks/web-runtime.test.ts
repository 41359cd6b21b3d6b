import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { it as itInBrowser, startChromium } from "../support/chromium.ts";
import { serve } from "./receiver-server.ts";
import { checkRuntime, expectedOutcomes, type RuntimeOutcomes } from "./runtime-checks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Bundles a program with the built library for browsers. A Node.js module in it would fail the build. */
async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

const PROGRAM = `
  import * as library from "./dist/webhooks/index.js";
  import { checkRuntime } from "./test/webhooks/runtime-checks.ts";
  globalThis.outcomes = checkRuntime(library);`;

/** The globals of edge runtimes: those of the web, without `process` and `Buffer`. */
const WEB_GLOBALS = { crypto, TextDecoder, TextEncoder, Request, Response, Headers, ReadableStream, atob };

async function runWithWebGlobals(program: string, globals: object = WEB_GLOBALS): Promise<unknown> {
  const context = createContext({ ...globals }) as { outcomes: Promise<unknown> };
  runInContext(program, context);
  return context.outcomes;
}

describe("the library in a runtime", () => {
  it("like Node works with WebCrypto and with node:crypto", async () => {
    expect(await checkRuntime(await import("../../src/webhooks/index.ts"))).toEqual(expectedOutcomes(true));
  });

  it("with only web globals, such as an edge function, works with WebCrypto", async () => {
    const outcomes = (await runWithWebGlobals(await bundle(PROGRAM))) as RuntimeOutcomes;
    expect(JSON.parse(JSON.stringify(outcomes))).toEqual(expectedOutcomes(false));
  });

  it("reports missing crypto", async () => {
    const program = await bundle(`
      import { verifyAsync } from "./dist/webhooks/index.js";
      globalThis.outcomes = verifyAsync({ payload: "{}", header: "t=1,v1=" + "0".repeat(64), secrets: "k", now: 1 })
        .catch(({ code, message }) => [code, message]);`);
    for (const globals of [
      { TextDecoder, TextEncoder },
      { TextDecoder, TextEncoder, crypto: {} },
    ]) {
      const [code, message] = (await runWithWebGlobals(program, globals)) as [string, string];
      expect(code).toBe("crypto_unavailable");
      expect(message).toMatch(/crypto\.subtle: browsers provide it on https pages/);
    }
  });

  itInBrowser("like Chromium works with WebCrypto", async () => {
    const script = await bundle(PROGRAM);
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>receiver</title>");
    });
    const { url } = await serve(server);
    const browser = await startChromium();
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.addScriptTag({ content: script });
      expect(await page.evaluate("outcomes")).toEqual(expectedOutcomes(false));
    } finally {
      await browser.close();
    }
  });
});

describe("a browser bundle", () => {
  it("with everything that signs and verifies has at most 8 KB", async () => {
    const names = "sign, signAsync, SignatureError, verify, verifyAsync, verifySignature, verifySignatureAsync";
    const used = await bundle(`import { ${names} } from "./dist/webhooks/index.js"; globalThis.used = { ${names} };`);
    expect(used.length).toBeLessThanOrEqual(8192);
  });

  it("omits unused code", async () => {
    const [all, none] = await Promise.all([
      bundle(`import * as library from "./dist/webhooks/index.js"; globalThis.used = library;`),
      bundle(`import { TOLERANCE_SECONDS } from "./dist/webhooks/index.js"; globalThis.used = TOLERANCE_SECONDS;`),
    ]);
    expect(all.length).toBeLessThan(16_384);
    expect(none.length).toBeLessThan(200);
  });
});

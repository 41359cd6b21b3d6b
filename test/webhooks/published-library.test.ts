import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { headerOf, PAYLOAD, SECRET } from "./deliveries.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = path.join(root, "node_modules/typescript/bin/tsc");
const folder = mkdtempSync(path.join(tmpdir(), "webhooks-"));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMES = [
  "SIGNATURE_HEADER",
  "SIGNATURE_HEADER_DISPLAY",
  "SignatureError",
  "TOLERANCE_SECONDS",
  "expressWebhook",
  "fastifyWebhook",
  "fetchWebhook",
  "honoWebhook",
  "nodeWebhook",
  "sign",
  "verify",
  "verifyRequest",
  "verifySignature",
];

/** Prints the names of the library, what it makes of a delivery long past, and of one that it signs itself. */
const PROGRAM = `
  const outcomes = [Object.keys(library).sort()];
  try {
    library.verify({ payload: ${JSON.stringify(PAYLOAD)}, header: "${headerOf(PAYLOAD)}", secrets: "${SECRET}" });
  } catch (error) {
    outcomes.push(error.code);
  }
  const header = library.sign({ payload: "{}", secrets: "k" });
  outcomes.push(library.verify({ payload: "{}", header, secrets: "k" }));
  console.log(JSON.stringify(outcomes));
`;

describe("the published library", () => {
  it.each([
    ["ES module", "esm", "mjs", `import * as library from "./library.mjs";`],
    ["CommonJS module", "cjs", "cjs", `const library = require("./library.cjs");`],
  ] as const)("is one %s that needs nothing but Node's crypto and buffer", async (_name, format, ending, load) => {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ["src/webhooks/index.ts"],
      outfile: path.join(folder, `library.${ending}`),
      bundle: true,
      platform: "node",
      format,
      metafile: true,
      logLevel: "silent",
    });
    expect(Object.keys(metafile.inputs).filter((input) => !input.startsWith("src/webhooks/"))).toEqual([]);
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map((one) => one.path));
    expect([...new Set(imports)].sort()).toEqual(["node:buffer", "node:crypto"]);

    const program = path.join(folder, `program.${ending}`);
    writeFileSync(program, load + PROGRAM);
    expect(JSON.parse(execFileSync(process.execPath, [program], { encoding: "utf8" }))).toEqual([
      NAMES,
      "timestamp_too_old",
      {},
    ]);
  });

  it("has declarations that a strict program compiles against, without skipping their check", () => {
    const library = path.join(folder, "types");
    execFileSync(process.execPath, [
      tsc,
      "--project",
      path.join(root, "src/webhooks/tsconfig.json"),
      "--outDir",
      library,
    ]);
    writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
    const consume = (source: string): { status: number | null; stdout: string } => {
      writeFileSync(path.join(folder, "consumer.ts"), source);
      const settings = "--strict --exactOptionalPropertyTypes --noEmit --module nodenext --target es2023 --types node";
      const typeRoots = ["--typeRoots", path.join(root, "node_modules/@types")];
      const arguments_ = [tsc, ...settings.split(" "), ...typeRoots, path.join(folder, "consumer.ts")];
      return spawnSync(process.execPath, arguments_, { cwd: folder, encoding: "utf8" });
    };
    const start = `
      import http from "node:http";
      import { nodeWebhook, SignatureError, type SignatureErrorCode, verify, type WebhookEvent } from "./types/index.js";
      http.createServer(nodeWebhook({ secrets: "s" }, async (event, request, response) => {
        response.writeHead(204, { "x-path": request.url ?? "" }).end(event.id);
      }));
      http.createServer(nodeWebhook({ secrets: "s" }, (event, request: http.IncomingMessage, response: http.ServerResponse) => {
        response.end(event.type + request.httpVersion);
      }));
      declare const request: http.IncomingMessage;
      const header = request.headers["service-signature"];
      const event = verify({ payload: Buffer.from(""), header, secrets: ["a", "b"] }) as WebhookEvent<{ amount: number }>;
      export const amount: number = event.data.object.amount;
      export const code: SignatureErrorCode = new SignatureError("no_secrets", "none").code;
    `;
    expect(consume(start)).toMatchObject({ status: 0, stdout: "" });
    expect(consume(`${start} export const wrong: SignatureErrorCode = "no_such_code";`).stdout).toContain("TS2322");
  });
});

import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { headerOf, PAYLOAD, SECRET } from "../webhooks/deliveries.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const library = join(root, "dist/webhooks");
const tsc = join(root, "node_modules/typescript/bin/tsc");
const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const folder = mkdtempSync(join(tmpdir(), "service-webhooks-"));
const project = join(folder, "project");
const tarballs = {
  "service-webhooks": join(folder, `service-webhooks-${version}.tgz`),
  "service-cli": join(folder, `service-cli-${version}.tgz`),
};
let packed: { size: number; unpackedSize: number; files: Array<{ path: string }> };

beforeAll(async () => {
  const pack = async (source: string): Promise<typeof packed> => {
    const { stdout } = await promisify(execFile)(
      "npm",
      ["pack", "--json", "--ignore-scripts", "--pack-destination", folder],
      {
        cwd: source,
      },
    );
    return (JSON.parse(stdout) as [typeof packed])[0];
  };
  [packed] = await Promise.all([pack(library), pack(root)]);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true }');
  const flags = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await promisify(execFile)("npm", ["install", ...flags, tarballs["service-webhooks"]], { cwd: project });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifestIn = (source: string) => JSON.parse(readFileSync(join(source, "package.json"), "utf8"));

describe("service-webhooks", () => {
  it("is at most 60 KB, with types, README and license, without dependencies or install scripts", () => {
    expect(packed.size).toBeLessThanOrEqual(60_000);
    const files = packed.files.map(({ path }) => path);
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "index.js", "index.cjs", "index.d.ts", "index.d.cts"]),
    );
    const manifest = manifestIn(join(project, "node_modules/service-webhooks"));
    expect(manifest).toMatchObject({ name: "service-webhooks", version });
    for (const member of ["dependencies", "peerDependencies", "optionalDependencies", "scripts"]) {
      expect(manifest).not.toHaveProperty(member);
    }
  });

  it("imports nothing, so that bundlers and edge runtimes have nothing to resolve", () => {
    for (const file of ["index.js", "index.cjs", "schemes.js", "schemes.cjs"]) {
      const text = readFileSync(join(library, file), "utf8").replaceAll(/(?:from |require\()"\.\/index\.c?js"/g, "");
      expect(text).not.toMatch(/\bfrom *"|\bimport *[("]|\brequire\(/);
    }
  });

  /** Prints the error code of a rejected delivery, and the event type of a delivery that it signs itself. */
  const program = `
    const secrets = ${JSON.stringify(SECRET)};
    try {
      verify({ payload: ${JSON.stringify(PAYLOAD)}, header: ${JSON.stringify(headerOf(PAYLOAD))}, secrets });
    } catch (error) {
      console.log(error instanceof SignatureError, error.code);
    }
    const payload = ${JSON.stringify(PAYLOAD)};
    console.log(verify({ payload, header: sign({ payload, secrets }), secrets }).type);
    try {
      schemes.verify({ scheme: "github", payload, headers: schemes.sign({ scheme: "github", payload, secrets, id: "1" }), secrets });
      schemes.verify({ scheme: "github", payload, headers: {}, secrets });
    } catch (error) {
      console.log(error instanceof SignatureError, error.code);
    }
    signAsync({ payload, secrets })
      .then((header) => verifyAsync({ payload, header, secrets }))
      .then((event) => console.log(event.id));`;
  const NAMES = "{ sign, signAsync, SignatureError, verify, verifyAsync }";

  it.each([
    [
      "an ES module",
      "module.mjs",
      `import ${NAMES} from "service-webhooks"; import * as schemes from "service-webhooks/schemes";`,
    ],
    [
      "a CommonJS module",
      "common.cjs",
      `const ${NAMES} = require("service-webhooks"); const schemes = require("service-webhooks/schemes");`,
    ],
  ])("works in %s", (_name, file, load) => {
    writeFileSync(join(project, file), load + program);
    expect(execFileSync(process.execPath, [file], { cwd: project, encoding: "utf8" }).split("\n")).toEqual([
      "true timestamp_too_old",
      "order.completed",
      "true header_missing",
      (JSON.parse(PAYLOAD) as { id: string }).id,
      "",
    ]);
  });
});

/** Compiles files and declarations in strict mode like a consumer. Returns the compiler's errors. */
function compile(files: Record<string, string>, settings: string[]): string[] {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  const typeRoots = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node"];
  const strict = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noEmit",
    "--target",
    "es2023",
    "--skipLibCheck",
    "false",
  ];
  const arguments_ = [tsc, ...strict, ...typeRoots, ...settings, ...Object.keys(files)];
  const { stdout } = spawnSync(process.execPath, arguments_, { cwd: project, encoding: "utf8" });
  return stdout.split("\n").filter((line) => /^\S/.test(line));
}

describe("the types", () => {
  const start = `
    import { nodeWebhook, SignatureError, type SignatureErrorCode, verify, verifyAsync, type WebhookEvent } from "service-webhooks";
    import { type Scheme, SCHEMES, type SchemeName, verify as verifyScheme } from "service-webhooks/schemes";
    import type { IncomingMessage, ServerResponse } from "node:http";
    declare const event: WebhookEvent;
    declare const request: IncomingMessage;
    declare const response: ServerResponse;`;
  const use = `${start}
    nodeWebhook({ secrets: "s" }, (event, request, response) => {
      response.writeHead(204, { "x-path": request.url ?? "" }).end(event.id);
    })(request, response);
    nodeWebhook({ secrets: "s" }, (event, request: IncomingMessage, response: ServerResponse) => {
      response.end(event.type + request.httpVersion);
    })(request, response);
    const header = request.headers["service-signature"];
    verifyAsync({ payload: new ArrayBuffer(2), header, secrets: ["a", "b"] }).then((event) => event.created);
    export const one: WebhookEvent<"order.completed"> = verify({ payload: "", header, secrets: "a" }) as WebhookEvent<"order.completed">;
    verifyScheme({ scheme: "stripe", payload: "", headers: request.headers, secrets: "a" }).timestamp?.toFixed();
    verifyScheme({ scheme: "github", payload: "", headers: new Headers(), secrets: "a" }).id?.length;
    export const known: Record<SchemeName, Scheme> = SCHEMES;
    export const code: SignatureErrorCode = new SignatureError("no_secrets", "none").code;`;
  const narrowed = `${start}
    switch (event.type) {
      case "order.completed":
      case "order.canceled": {
        const amount: number = event.data.object.amount;
        const kind: "order" = event.data.object.object;
        const old: number | undefined = event.data.previous?.amount;
        console.log(amount, kind, old);
        break;
      }
      case "payment.failed":
        console.log(event.data.object.failure_code?.length);
        break;
      case "customer.deleted":
        console.log(event.data.object.email.length);
        break;
      case "webhook_endpoint.ping":
        console.log(event.data.object.url.length);
        break;
      case "webhook_endpoint.failing":
        console.log(event.data.object.health.failing_since?.length, event.request.id?.length);
        break;
      default:
        console.log("ignored", event.type);
    }`;

  it.each([
    ["node16", ["--module", "node16"]],
    ["nodenext", ["--module", "nodenext"]],
  ])("compile with the resolution %s, and narrow an event's object by its type", (_name, settings) => {
    expect(compile({ "typed.mts": use, "typed.cts": use, "narrowed.mts": narrowed }, settings)).toEqual([]);
  });

  it("compile with the resolution bundler", () => {
    const settings = ["--module", "esnext", "--moduleResolution", "bundler"];
    expect(compile({ "typed.ts": use }, settings)).toEqual([]);
  });

  it("reject misspelled event types, fields of other objects and parsed payloads", () => {
    const completed = `if (event.type === "order.completed")`;
    const wrong: Record<string, [source: string, error: string]> = {
      "event-type.mts": [`export const is = event.type === "order.complete";`, "TS2367"],
      "case.mts": [`switch (event.type) { case "orders.completed": console.log(); }`, "TS2678"],
      "type-argument.mts": [`export type No = WebhookEvent<"order.shipped">;`, "TS2344"],
      "field-of-some.mts": [`export const amount = event.data.object.amount;`, "TS2339"],
      "field-of-other.mts": [`${completed} console.log(event.data.object.email);`, "TS2339"],
      "status.mts": [`${completed} console.log(event.data.object.status === "shipped");`, "TS2367"],
      "error-code.mts": [`export const wrong: SignatureErrorCode = "no_such_code";`, "TS2322"],
      "scheme.mts": [`verifyScheme({ scheme: "strip", payload: "", headers: {}, secrets: "" });`, "TS2820"],
      "payload.mts": [`verify({ payload: { id: "evt_1" }, header: "", secrets: "" });`, "TS2353"],
    };
    const sources = Object.entries(wrong).map(([file, [source]]) => [file, `${start}\n${source}`]);
    const errors = compile(Object.fromEntries(sources), ["--module", "node16"]);
    const found = errors.map((line) => /^([\w.-]+)\(.*error (TS\d+)/.exec(line)?.slice(1) ?? [line]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(wrong).map(([file, [, error]]) => [file, error])),
    );
    expect(found).toHaveLength(Object.keys(wrong).length);
  });

  it.each([
    ["service-webhooks", [".", "schemes"]],
    ["service-cli", ["webhooks", "webhooks/schemes", "testing"]],
  ] as const)("of %s %j resolve to the right files under node10, node16 and bundler", (name, entries) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [attw, tarballs[name], "--entrypoints", ...entries, "--format", "json"],
      { encoding: "utf8", maxBuffer: 100_000_000 },
    );
    expect(stderr).toBe("");
    const { analysis, problems } = JSON.parse(stdout) as {
      analysis: { entrypoints: Record<string, { resolutions: Record<string, { resolution?: unknown }> }> };
      problems: Record<string, unknown>;
    };
    const { entrypoints } = analysis;
    expect(Object.keys(entrypoints)).toEqual(entries.map((entry) => (entry === "." ? "." : `./${entry}`)));
    for (const { resolutions } of Object.values(entrypoints)) {
      expect(Object.keys(resolutions)).toEqual(["node10", "node16-cjs", "node16-esm", "bundler"]);
      for (const [kind, { resolution }] of Object.entries(resolutions)) expect(resolution, kind).toBeDefined();
    }
    expect(problems).toEqual({});
    expect(status).toBe(0);
  });
});

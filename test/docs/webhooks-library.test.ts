import { execFile, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL, fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import * as library from "../../src/webhooks/index.ts";
import * as schemes from "../../src/webhooks/schemes.ts";
import { freePort } from "../support/free-port.ts";
import { cliEnv } from "../support/run-cli.ts";
import { headerOf, PAYLOAD, SECRET } from "../webhooks/deliveries.ts";
import { makeApplicationFolder } from "./application-folder.ts";
import { blocksOf, filesOf } from "./pages.ts";

const PAGE = "webhooks-library.md";
const root = fileURLToPath(new URL("../..", import.meta.url));
const blocks = blocksOf(PAGE);
const files = filesOf(PAGE);

let folder: string;
beforeAll(async () => {
  folder = await makeApplicationFolder(PAGE, files);
});

const signedNow = (): string => library.sign({ payload: PAYLOAD, secrets: SECRET });
const { id } = JSON.parse(PAYLOAD) as { id: string };

/**
 * Evaluates an expression in an example's module, with the secret in the environment. Returns the last logged value.
 */
async function evaluate(file: string, expression: string): Promise<unknown> {
  const script = `const example = await import(${JSON.stringify(pathToFileURL(join(folder, file)).href)});
    console.log(JSON.stringify(await (${expression})));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    env: cliEnv({ SERVICE_WEBHOOK_SECRET: SECRET }),
  });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
}

describe("docs/webhooks-library.md", () => {
  it("mentions every export of the library", () => {
    const page = readFileSync(join(root, "docs", PAGE), "utf8");
    const index = readFileSync(join(root, "src/webhooks/index.ts"), "utf8");
    const names = [...index.matchAll(/\{([^}]+)\}/g)].flatMap(([, list]) =>
      list!.split(",").map((name) => name.replace("type ", "").trim()),
    );
    const source = readFileSync(join(root, "src/webhooks/schemes.ts"), "utf8");
    names.push(
      ...Object.keys(schemes),
      ...[...source.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name!),
    );
    expect(names.filter((name) => name !== "" && !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(Object.keys(library)));
  });

  it("shows the output of its programs", async () => {
    const programs = blocks.filter((_block, index) => blocks[index + 1]?.language === "text");
    expect(programs).toHaveLength(4);
    for (const program of programs) {
      const file = program.text.slice("// ".length, program.text.indexOf("\n"));
      const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
      expect(stdout).toBe(blocks[blocks.indexOf(program) + 1]!.text);
    }
  });

  it("has a TypeScript example that compiles", () => {
    const settings = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023", "--types", "node"];
    const typeRoots = ["--typeRoots", join(root, "node_modules/@types")];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, ...settings, ...typeRoots, "narrow.ts"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout).toBe("");
  });

  it("has a Koa application that accepts signed deliveries only", async () => {
    const port = await freePort();
    const env = cliEnv({ PORT: String(port), SERVICE_WEBHOOK_SECRET: SECRET });
    const child = spawn(process.execPath, ["koa.js"], { cwd: folder, env, stdio: "ignore" });
    onTestFinished(() => void child.kill());
    const deliver = async (signature: string): Promise<number> => {
      const headers = { "Service-Signature": signature };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: PAYLOAD, headers })).status;
    };
    await vi.waitFor(async () => expect(await deliver(signedNow())).toBe(204), { timeout: 60_000 });
    expect(await deliver(headerOf(PAYLOAD))).toBe(400);
  });

  it("has a Lambda function that accepts signed deliveries only", async () => {
    const deliver = async (signature: string): Promise<unknown> => {
      const request = {
        requestContext: { http: { method: "POST" } },
        headers: { "service-signature": signature },
        body: PAYLOAD,
      };
      return evaluate("lambda.js", `example.handler(${JSON.stringify(request)}, {})`);
    };
    expect(await deliver(signedNow())).toEqual({ statusCode: 204 });
    expect(await deliver(headerOf(PAYLOAD))).toMatchObject({ statusCode: 400 });
  });

  it("has a Worker that accepts signed deliveries only", async () => {
    const deliver = async (signature: string): Promise<unknown> => {
      const init = { method: "POST", body: PAYLOAD, headers: { "Service-Signature": signature } };
      const request = `new Request("https://receiver.example", ${JSON.stringify(init)})`;
      const env = JSON.stringify({ SERVICE_WEBHOOK_SECRET: SECRET });
      return evaluate(
        "worker.js",
        `example.default.fetch(${request}, ${env}).then(async (response) => [
        response.status, await response.text()])`,
      );
    };
    expect(await deliver(signedNow())).toEqual([200, id]);
    expect(await deliver(headerOf(PAYLOAD))).toEqual([400, expect.stringContaining("timestamp_too_old")]);
  });
});

import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesOf } from "../docs/pages.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

interface Generator {
  packages: string[];
  /** The program in its package, and its arguments: it reads openapi.json, and writes what `entry` is part of. */
  program: string;
  args: string[];
  files?: Record<string, string>;
  entry: string;
  options?: object;
  /** An expression over the generated module, as `api`, and what it is for a platform with one order. */
  use?: string;
}

const ORDER = { amount: 1999, currency: "EUR" };
const ORDERS = '{ baseUrl, headers: { Authorization: "Bearer " + key } }';

const GENERATORS: Record<string, Generator> = {
  "@hey-api/openapi-ts": {
    packages: ["@hey-api/openapi-ts@0.95.0"],
    program: "@hey-api/openapi-ts/bin/run.js",
    args: ["--input", "openapi.json", "--output", "service"],
    entry: "service/sdk.gen.ts",
    use: `(await api.listOrders(${ORDERS})).data.data[0]`,
  },
  "openapi-zod-client": {
    packages: ["openapi-zod-client@1.18.3", "@zodios/core@10.9.6", "axios@1.21.1", "zod@3.25.76"],
    program: "openapi-zod-client/bin.js",
    args: ["openapi.json", "--output", "service.ts", "--with-alias"],
    entry: "service.ts",
    use: `(await api.createApiClient(baseUrl, { axiosConfig: { headers: { Authorization: "Bearer " + key } } }).listOrders()).data[0]`,
  },
  "orval with zod": {
    packages: ["orval@7.13.2", "zod@3.25.76"],
    program: "orval/dist/bin/orval.js",
    args: ["--input", "openapi.json", "--output", "service.ts", "--client", "zod"],
    entry: "service.ts",
    use: `api.createOrderBody.parse(${JSON.stringify(ORDER)})`,
  },
  "swagger-typescript-api": {
    packages: ["swagger-typescript-api@13.13.0"],
    program: "swagger-typescript-api/dist/cli.mjs",
    args: ["generate", "--path", "openapi.json", "--output", ".", "--name", "service.ts"],
    entry: "service.ts",
    use: `(await new api.Api({ baseUrl, baseApiParams: { headers: { Authorization: "Bearer " + key } } }).v1.listOrders()).data.data[0]`,
  },
  Kubb: {
    packages: ["cli", "core", "plugin-oas", "plugin-ts"].map((name) => `@kubb/${name}@4.39.3`),
    program: "@kubb/cli/bin/kubb.cjs",
    args: ["generate", "--config", "kubb.config.mjs"],
    files: {
      "kubb.config.mjs": `import { defineConfig } from "@kubb/core";
        import { pluginOas } from "@kubb/plugin-oas";
        import { pluginTs } from "@kubb/plugin-ts";
        const output = { path: "./service", clean: true };
        export default defineConfig({ input: { path: "./openapi.json" }, output, plugins: [pluginOas(), pluginTs()] });`,
    },
    entry: "service/index.ts",
    options: { allowImportingTsExtensions: true },
  },
  oazapfts: {
    packages: ["oazapfts@7.5.0", "@oazapfts/runtime@1.2.0"],
    program: "oazapfts/dist/cli.js",
    args: ["openapi.json", "service.ts"],
    entry: "service.ts",
    use: `(await api.listOrders({}, ${ORDERS})).data.data[0]`,
  },
};

let platform: ServedPlatform;
beforeAll(async () => {
  platform = await servePlatform();
  const headers = { Authorization: `Bearer ${platform.sandboxKey}`, "Content-Type": "application/json" };
  await fetch(`${platform.baseUrl}/v1/orders`, { method: "POST", headers, body: JSON.stringify(ORDER) });
});
afterAll(() => platform.stop());

/** Returns a folder beside the generator's packages, with the document and what the generator writes. */
async function generate({ packages, program, args, files = {} }: Generator): Promise<string> {
  const tools = await installPackages(...packages, "typescript@5.9.3");
  const created = mkdtempSync(join(tools, "check-"));
  const document = await (await fetch(`${platform.baseUrl}/openapi.json`)).text();
  for (const [name, text] of Object.entries({ ...files, "openapi.json": document })) {
    writeFileSync(join(created, name), text);
  }
  await promisify(execFile)(process.execPath, [join(tools, "node_modules", program), ...args], { cwd: created });
  return created;
}

/** Returns the errors of the compiler in strict mode. */
function compile(place: string, file: string, options: object = {}): string {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
    types: [],
    ...options,
  };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
  const tsc = createRequire(join(place, "file.js"))
    .resolve("typescript/package.json")
    .replace("package.json", "bin/tsc");
  return spawnSync(process.execPath, [tsc, "--project", place], { encoding: "utf8" }).stdout;
}

describe("a client generated from the OpenAPI document by", () => {
  it.each(Object.entries(GENERATORS))("%s compiles, and works", async (_name, generator) => {
    const place = await generate(generator);
    expect(compile(place, generator.entry, generator.options)).toBe("");
    if (generator.use !== undefined) {
      const source = `import * as api from "./${generator.entry}";
        export const use = async (baseUrl, key) => ${generator.use};`;
      const { use } = await load<{ use: (baseUrl: string, key: string) => Promise<unknown> }>(place, source);
      expect(await use(platform.baseUrl, platform.sandboxKey)).toMatchObject(ORDER);
    }
    rmSync(place, { recursive: true, force: true });
  });

  it("hey-api runs the program in docs/clients.md", async () => {
    const place = await generate(GENERATORS["@hey-api/openapi-ts"]!);
    const program = filesOf("clients.md").get("orders.ts")!;
    writeFileSync(
      join(place, "orders.ts"),
      `declare const process: { env: Record<string, string>; exit(): never };\n${program}`,
    );
    expect(compile(place, "orders.ts")).toBe("");
    const outfile = await bundle(place, readFileSync(join(place, "orders.ts"), "utf8"));
    const env = { SERVICE_BASE_URL: platform.baseUrl, SERVICE_API_KEY: platform.sandboxKey };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env });
    expect(stdout).toMatch(/^ord_\w+ completed\nemail_taken\norder\.created ord_\w+\n/);
    rmSync(place, { recursive: true, force: true });
  });
});

async function bundle(place: string, source: string): Promise<string> {
  const outfile = join(place, "program.mjs");
  const stdin = { contents: source, resolveDir: place, loader: "ts" } as const;
  const banner = { js: 'import{createRequire as $cr}from"node:module";const require=$cr(import.meta.url);' };
  await build({ stdin, bundle: true, format: "esm", platform: "node", outfile, banner, logLevel: "warning" });
  return outfile;
}

async function load<Module>(place: string, source: string): Promise<Module> {
  return (await import(pathToFileURL(await bundle(place, source)).href)) as Module;
}

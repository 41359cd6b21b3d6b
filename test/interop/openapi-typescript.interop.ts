import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

const require = createRequire(import.meta.url);

/** A program with the generated types: every line is a compile error if the types do not fit it. */
const PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

export async function use(baseUrl: string, key: string): Promise<readonly unknown[]> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: "Bearer " + key } });
  const { data: order } = await client.POST("/v1/orders", { body: { amount: 1999, currency: "EUR" } });
  const id: string = order!.id;
  const { data: completed } = await client.POST("/v1/orders/{id}/complete", { params: { path: { id } } });
  const status: "pending" | "completed" | "canceled" = completed!.status;
  const { data: page } = await client.GET("/v1/orders", { params: { query: { limit: 1, status: "completed" } } });
  const first: components["schemas"]["Order"] | undefined = page!.data[0];
  const { error } = await client.GET("/v1/orders/{id}", { params: { path: { id: id.replace(/.$/, "_") } } });
  const code: string = error!.code;
  return [order!.amount, status, first?.id === id, code];
}
`;

describe("openapi-typescript", () => {
  let platform: ServedPlatform;
  let folder: string;

  beforeAll(async () => {
    const tools = await installPackages("openapi-typescript@7.13.0", "openapi-fetch@0.17.0");
    folder = mkdtempSync(join(tools, "check-"));
    platform = await servePlatform();
    const program = join(tools, "node_modules/openapi-typescript/bin/cli.js");
    const args = [program, `${platform.baseUrl}/openapi.json`, "--output", join(folder, "api.d.ts")];
    await promisify(execFile)(process.execPath, args);
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns the errors of the compiler. */
  function compile(program: string): string {
    writeFileSync(join(folder, "program.ts"), program);
    const tsc = join(require.resolve("typescript/package.json"), "../bin/tsc");
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--allowImportingTsExtensions",
    ];
    const args = [tsc, ...options, "--ignoreConfig", "--types", "", "program.ts"];
    return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" }).stdout;
  }

  it("generates types from the OpenAPI document that compile and reject undocumented fields", () => {
    expect(compile(PROGRAM)).toBe("");
    expect(compile(PROGRAM.replace("amount: 1999", "amonut: 1999"))).toContain("amonut");
    expect(compile(PROGRAM.replace('status: "completed"', 'status: "complete"'))).toContain('"complete"');
  });

  it("gives openapi-fetch types that match the platform's responses", async () => {
    writeFileSync(join(folder, "program.ts"), PROGRAM);
    const outfile = join(folder, "program.mjs");
    await build({ entryPoints: [join(folder, "program.ts")], bundle: true, format: "esm", platform: "node", outfile });
    const { use } = (await import(pathToFileURL(outfile).href)) as {
      use: (baseUrl: string, key: string) => Promise<unknown[]>;
    };
    expect(await use(platform.baseUrl, platform.sandboxKey)).toEqual([1999, "completed", true, "not_found"]);
  });
});

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { filesOf, textOf } from "../docs/pages.ts";
import { installPackages } from "./support/packages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const COMPILERS = ["typescript@5.0.4", "typescript@5.9.3", "typescript@7.0.2"];
/** Their types use syntax that is newer than TypeScript 5.0. */
const MODERN = COMPILERS.slice(1);

/** The parameters that examples in JavaScript leave without a type. */
const TYPES: [string, string][] = [
  ["function record(event)", 'function record(event: import("service-cli/webhooks").WebhookEvent)'],
  ["function workOn(act)", 'function workOn(act: (event: import("service-cli/webhooks").WebhookEvent) => unknown)'],
  ["const acme =", 'const acme: import("service-cli/webhooks/schemes").Scheme ='],
  ["let wake = () => {}", "let wake: () => unknown = () => {}"],
  ["JSON.parse(row.event)", 'JSON.parse(String(row["event"]))'],
  ["finish.run(row.id)", 'finish.run(row["id"])'],
  ["fetch(request, env)", "fetch(request: Request, env: { SERVICE_WEBHOOK_SECRET: string })"],
];

interface Example {
  file: string;
  packages: string[];
  compilers?: string[];
  types?: string[];
  options?: object;
}

const NEST = ["common", "core", "platform-express"].map((name) => `@nestjs/${name}@11.1.28`);
const EXAMPLES: Record<string, Example[]> = {
  "../README.md": [{ file: "receiver.mjs", packages: [] }],
  "../src/webhooks/README.md": [{ file: "snippet.js", packages: [] }],
  "../src/dashboard/pages/overview/quick-start.tsx": [{ file: "snippet.js", packages: [] }],
  "tutorial.md": [{ file: "receiver.mjs", packages: [] }],
  "testing-receivers.md": [{ file: "unit.test.js", packages: [], compilers: MODERN }],
  "receiving-webhooks.md": [
    { file: "work.js", packages: [] },
    { file: "node-http.js", packages: [] },
    { file: "express.js", packages: ["@types/express@4.17.25"] },
    { file: "express.js", packages: ["@types/express@5.0.6"] },
    { file: "fastify.js", packages: ["fastify@5.12.8"] },
    { file: "hono.js", packages: ["hono@4.13.19"] },
    { file: "app/webhooks/route.js", packages: ["next@15.5.29"] },
    { file: "app/webhooks/route.js", packages: ["next@16.4.6"] },
  ],
  "webhooks-library.md": [
    ...["sign-and-verify.js", "acme.js", "narrow.ts", "errors.js"].map((file) => ({
      file,
      packages: [],
    })),
    // The compiler's own types of Response lack `json` before 5.1.
    { file: "deliver.js", packages: [], compilers: MODERN },
    { file: "koa.js", packages: ["@types/koa@3.0.3"] },
    { file: "lambda.js", packages: ["@types/aws-lambda@8.10.164"] },
    {
      file: "worker.js",
      packages: ["@cloudflare/workers-types@5.20261117.1"],
      types: ["@cloudflare/workers-types"],
      options: { lib: ["es2023"] },
    },
  ],
  "frameworks.md": [
    {
      file: "nest.ts",
      packages: [...NEST, "rxjs@7.8.2", "reflect-metadata@0.2.2"],
      options: { experimentalDecorators: true },
    },
    { file: "src/routes/webhooks/+server.ts", packages: ["@sveltejs/kit@3.2.0"], compilers: MODERN },
    { file: "src/pages/webhooks.ts", packages: ["astro@7.3.5"], compilers: MODERN },
    { file: "h3-1.ts", packages: ["h3@1.15.11"] },
    { file: "h3-2.ts", packages: ["h3@2.0.8"], compilers: MODERN },
    { file: "elysia.ts", packages: ["elysia@1.4.30"] },
  ],
};

/** What a framework generates from a route to check it: the lines of Next.js that decide on `route.ts`. */
const CHECKS: Record<string, string> = {
  "app/webhooks/route.js": `import type { NextRequest } from "next/server.js";
    import * as route from "./app/webhooks/route.js";
    type Given = Parameters<typeof route.POST>[0];
    export const isRequest: Given extends Request | NextRequest ? true : never = true;`,
  "lambda.js": `import type { APIGatewayProxyHandlerV2 } from "aws-lambda";
    import { handler } from "./lambda.js";
    const checked: APIGatewayProxyHandlerV2 = (event, context) => handler(event, context);
    export default checked;`,
  "worker.js": `import worker from "./worker.js";
    export default worker satisfies ExportedHandler<{ SERVICE_WEBHOOK_SECRET: string }>;`,
};

/** The examples without a file name, by the page or source that they are in. */
const SNIPPETS: Record<string, RegExp> = {
  "../src/webhooks/README.md": /^```js\n(.*?)^```$/ms,
  "../src/dashboard/pages/overview/quick-start.tsx": /^const RECEIVER = `([^`]+)`;$/m,
};

const typed = (text: string) => TYPES.reduce((result, [from, to]) => result.replace(from, to), text);

async function compile(page: string, { file, packages, types = ["node"], options = {} }: Example, compiler: string) {
  const tools = packages.length === 0 ? await installPackages(compiler) : await installPackages(...packages);
  const tsc = join(await installPackages(compiler), "node_modules/typescript/bin/tsc");
  const folder = mkdtempSync(join(tools, "example-"));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const files = [...filesOf("receiving-webhooks.md"), ...filesOf(page)];
  for (const [name, text] of files) {
    if (/\.m?[jt]s$/.test(name)) write(name.replace(/js$/, "ts"), typed(text));
  }
  write("package.json", '{ "type": "module" }');
  const [, snippet] = SNIPPETS[page]?.exec(textOf(page)) ?? [];
  if (snippet !== undefined) write("snippet.ts", snippet.replace('"service-webhooks"', '"service-cli/webhooks"'));
  if (CHECKS[file] !== undefined) write("check.ts", CHECKS[file]);
  mkdirSync(join(folder, "node_modules/@photostructure"), { recursive: true });
  for (const name of ["@photostructure/sqlite", "service-cli"]) {
    symlinkSync(name === "service-cli" ? root : join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    preserveSymlinks: true,
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
    types,
    typeRoots: [join(root, "node_modules/@types"), join(tools, "node_modules")],
    ...options,
  };
  const entries = [file.replace(/js$/, "ts"), ...(CHECKS[file] === undefined ? [] : ["check.ts"])];
  write("tsconfig.json", JSON.stringify({ compilerOptions, files: entries }));
  const { stdout } = spawnSync(process.execPath, [tsc, "--project", folder], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  return stdout;
}

describe.each(Object.entries(EXAMPLES))("the examples in docs/%s", (page, examples) => {
  const cases = examples.flatMap((example) =>
    (example.compilers ?? COMPILERS).map((compiler) => [example, compiler] as const),
  );
  it.each(cases)("compile in strict mode: $file with $packages", async (example, compiler) => {
    expect(await compile(page, example, compiler), `${example.file} with ${compiler}`).toBe("");
  });
});

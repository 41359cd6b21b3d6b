import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { blocksOf, filesOf, nameIn, PAGES, textOf } from "../docs/pages.ts";
import { installPackages } from "./support/packages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const COMPILERS = ["typescript@5.0.4", "typescript@5.9.3", "typescript@7.0.2"];
/** Their types use syntax that is newer than TypeScript 5.0. */
const MODERN = COMPILERS.slice(1);

/** What examples in JavaScript leave without a type. */
const TYPES: [string, string][] = [
  ["function record(event)", "function record(event: { id: string })"],
  ["function workOn(act)", 'function workOn(act: (event: import("service-cli/webhooks").WebhookEvent) => unknown)'],
  ["const acme =", 'const acme: import("service-cli/webhooks/schemes").Scheme ='],
  ["let wake = () => {}", "let wake: () => unknown = () => {}"],
  ["JSON.parse(row.event)", 'JSON.parse(String(row["event"]))'],
  ["finish.run(row.id)", 'finish.run(row["id"])'],
  ["fetch(request, env)", "fetch(request: Request, env: { SERVICE_WEBHOOK_SECRET: string })"],
  ["function createApp(secrets)", "function createApp(secrets: string)"],
  ["let platform, server, paid;", "let server: import('node:http').Server, paid: Set<unknown>;\nlet platform;"],
  ["let platform;", 'let platform: import("service-cli/testing").Platform;'],
  [".address().port", ".address() as import('node:net').AddressInfo).port"],
  ["${server.", "${(server."],
  ["${receiver.", "${(receiver."],
  ["const { startPlatform } = require(", "import testing = require("],
  ["await startPlatform();\n  Object", "await testing.startPlatform();\n  Object"],
  ["async (body, attempts = 3)", "async (body: object, attempts = 3)"],
  ["data.map(({ id }) => id)", "data.map(({ id }: { id: string }) => id)"],
  ["call(method, path, body)", "call(method: string, path: string, body?: object): Promise<any>"],
  ["listOrders(filters)", "listOrders(filters: Record<string, string>): AsyncGenerator<any>"],
  [
    "post(path, body, key)",
    "post(path: string, body: object, key: string): Promise<{ response: Response; result: any }>",
  ],
  ["createOrder(order)", "createOrder(order: object)"],
  ["error.message", "(error as Error).message"],
  ['request.headers["stripe-signature"]', 'request.headers["stripe-signature"] ?? ""'],
  ["process.env.STRIPE_WEBHOOK_SECRET", 'process.env.STRIPE_WEBHOOK_SECRET ?? ""'],
  ["} = process.env;", "} = process.env as Record<string, string>;"],
  [
    "const service = {",
    'const service: import("@auth/core/providers").OAuthConfig<{ sub: string; email: string }> = {',
  ],
  ["finish(url, checks)", "finish(url: URL, checks: { pkceCodeVerifier: string; expectedState: string })"],
];

/** What an example needs, besides Node.js and this package. */
interface Needs {
  packages?: string[];
  compilers?: string[];
  types?: string[];
  options?: object;
  /** Declares what the text around the example provides. */
  given?: string;
}

const NEST = ["common", "core", "platform-express"].map((name) => `@nestjs/${name}@11.1.28`);
const EXPRESS = "@types/express@5.0.6";
const MODERN_ONLY: Needs = { compilers: MODERN };
/** The repository's own Vitest, with its dependencies. */
const VITEST: Needs = { compilers: MODERN, options: { preserveSymlinks: false } };
const JEST: Needs = {
  packages: ["@types/jest@30.0.0"],
  types: ["node", "jest"],
  options: { moduleDetection: "force" },
};

/** Each way in which an example is compiled, if it needs anything. */
const NEEDS: Record<string, Needs[]> = {
  "../src/webhooks/README.md example-2.js": [
    { given: "declare const payload: string, header: string | undefined, secrets: string;" },
  ],
  "../src/cli/commands/help/index.ts example-1.js": [
    { given: 'declare const request: import("node:http").IncomingMessage, rawBody: Buffer, secrets: string;' },
  ],
  "testing.md receiver.js": [{ packages: [EXPRESS] }],
  "testing.md receiver.test.js": [{ packages: [EXPRESS], ...VITEST }],
  "testing.md client.test.cjs": [JEST],
  "test-states.md sandbox.js": [MODERN_ONLY],
  "using-the-api.md first-order.mjs": [MODERN_ONLY],
  "using-the-api.md list-orders.mjs": [MODERN_ONLY],
  "using-the-api.md create-order.mjs": [MODERN_ONLY],
  "test-states.md orders.test.js": [VITEST],
  "test-states.md customers.test.js": [{ ...JEST, ...MODERN_ONLY }],
  "testing-receivers.md unit.test.js": [MODERN_ONLY],
  "providers.md stripe.js": [{ packages: [EXPRESS, "stripe@20.0.0"], ...MODERN_ONLY }],
  "receiving-webhooks.md express.js": [{ packages: ["@types/express@4.17.25"] }, { packages: [EXPRESS] }],
  "receiving-webhooks.md fastify.js": [{ packages: ["fastify@5.12.8"] }],
  "receiving-webhooks.md hono.js": [{ packages: ["hono@4.13.19"] }],
  "receiving-webhooks.md serve-hono.js": [{ packages: ["hono@4.13.19", "@hono/node-server@2.1.8"], ...MODERN_ONLY }],
  "receiving-webhooks.md app/webhooks/route.js": [{ packages: ["next@15.5.29"] }, { packages: ["next@16.4.6"] }],
  // The compiler's own types of Response lack `json` before 5.1.
  "webhooks-library.md deliver.js": [MODERN_ONLY],
  "webhooks-library.md koa.js": [{ packages: ["@types/koa@3.0.3"] }],
  "webhooks-library.md lambda.js": [{ packages: ["@types/aws-lambda@8.10.164"] }],
  "webhooks-library.md worker.js": [
    {
      packages: ["@cloudflare/workers-types@5.20261117.1"],
      types: ["@cloudflare/workers-types"],
      options: { lib: ["es2023"] },
    },
  ],
  "frameworks.md nest.ts": [
    { packages: [...NEST, "rxjs@7.8.2", "reflect-metadata@0.2.2"], options: { experimentalDecorators: true } },
  ],
  "frameworks.md src/routes/webhooks/+server.ts": [{ packages: ["@sveltejs/kit@3.2.0"], ...MODERN_ONLY }],
  "frameworks.md src/pages/webhooks.ts": [{ packages: ["astro@7.3.5"], ...MODERN_ONLY }],
  "frameworks.md h3-1.ts": [{ packages: ["h3@1.15.11"] }],
  "frameworks.md h3-2.ts": [{ packages: ["h3@2.0.8"], ...MODERN_ONLY }],
  "frameworks.md elysia.ts": [{ packages: ["elysia@1.4.30"] }],
  "sign-in-with-service.md authjs.js": [{ packages: ["@auth/core@0.41.3"], ...MODERN_ONLY }],
  "sign-in-with-service.md better-auth.js": [{ packages: ["better-auth@1.7.25"], ...MODERN_ONLY }],
  "sign-in-with-service.md openid-client.js": [{ packages: ["openid-client@6.9.0"], ...MODERN_ONLY }],
};

/** test/interop/clients.interop.ts compiles it with the client that it generates. */
const ELSEWHERE = new Set(["clients.md orders.ts"]);

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

/** Where sources have an example. */
const SOURCES: Record<string, RegExp> = {
  "../src/dashboard/pages/overview/quick-start.tsx": /^const RECEIVER = `([^`]+)`;$/m,
  "../src/cli/commands/help/index.ts": /^ {2}(import .*?)^$/ms,
};

/** Returns the examples of a page or a source, each with the name of its file. */
function examplesOf(page: string): { file: string; text: string }[] {
  const found = SOURCES[page]?.exec(textOf(page));
  const blocks = blocksOf(page).filter(({ language }) => ["js", "ts"].includes(language));
  const texts = found === undefined ? blocks.map(({ text }) => text) : [found![1]!];
  return texts.map((text, index) => ({ file: nameIn(text) ?? `example-${index + 1}.js`, text }));
}

const asTypeScript = (name: string) => name.replace(/js$/, "ts");
const typed = (text: string) => TYPES.reduce((result, [from, to]) => result.replaceAll(from, to), text);

async function compile(page: string, { file, text }: { file: string; text: string }, needs: Needs, compiler: string) {
  const { packages = [], types = ["node"], options = {}, given = "" } = needs;
  const tools = packages.length === 0 ? await installPackages(compiler) : await installPackages(...packages);
  const tsc = join(await installPackages(compiler), "node_modules/typescript/bin/tsc");
  const folder = mkdtempSync(join(tools, "example-"));
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  const code = `${given}\n${text.replace('"service-webhooks"', '"service-cli/webhooks"')}`;
  for (const [name, content] of [...filesOf("receiving-webhooks.md"), ...filesOf(page), [file, code] as const]) {
    if (/\.[mc]?[jt]s$/.test(name)) write(asTypeScript(name), typed(content));
  }
  write("package.json", '{ "type": "module" }');
  if (CHECKS[file] !== undefined) write("check.ts", CHECKS[file]);
  mkdirSync(join(folder, "node_modules/@photostructure"), { recursive: true });
  for (const name of ["@photostructure/sqlite", "vitest", "service-cli"]) {
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
    typeRoots: [join(root, "node_modules/@types"), join(tools, "node_modules"), join(tools, "node_modules/@types")],
    ...options,
  };
  const entries = [asTypeScript(file), ...(CHECKS[file] === undefined ? [] : ["check.ts"])];
  write("tsconfig.json", JSON.stringify({ compilerOptions, files: entries }));
  const { stdout } = spawnSync(process.execPath, [tsc, "--project", folder], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  return stdout;
}

const EXAMPLES = [...PAGES, "../src/webhooks/README.md", ...Object.keys(SOURCES)].flatMap((page) =>
  examplesOf(page).map((example) => ({ page, ...example, id: `${page} ${example.file}` })),
);
const CASES = EXAMPLES.filter(({ id }) => !ELSEWHERE.has(id)).flatMap((example) =>
  (NEEDS[example.id] ?? [{}]).flatMap((needs) =>
    (needs.compilers ?? COMPILERS).map((compiler) => ({
      ...example,
      needs,
      compiler,
      name: [example.id, ...(needs.packages ?? []), compiler].join(", "),
    })),
  ),
);

it("the table of needs has only existing examples", () => {
  const ids = new Set(EXAMPLES.map(({ id }) => id));
  expect([...Object.keys(NEEDS), ...ELSEWHERE].filter((id) => !ids.has(id))).toEqual([]);
});

it.each(CASES)("an example compiles in strict mode: $name", async ({ page, needs, compiler, ...example }) => {
  expect(await compile(page, example, needs, compiler)).toBe("");
});

// Writes docs/contributors/compatibility.md from results of `npm run test:interop`, as its JSON reporter writes them.
//
//   npm run test:interop -- --reporter=json --outputFile=results.json
//   node scripts/write-compatibility.js results.json …
//
// With results of several runs, the last one of each test file counts. A tool without results keeps its row of the page.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tests = `${root}test/interop/`;

const INSTALLS = "Installs and runs the package";
const LIBRARY = "Runs the webhooks library";
const OAUTH = "Signs in, refreshes and revokes";
const SIGN_IN = "Signs users in";
const CLIENT = "Generates a client that works";
const TYPES = "Compiles the example of the guide";
const PROXY = "Forwards requests, listeners and streams";
const RECEIVER = "Runs the receiver of the guide";
const SIGNATURES = "Verifies our signatures, and we verify its";

/**
 * Each tool: what it does in the tests, the package whose version they pin, and their full names. Tests of other programs
 * record the version that they run.
 */
const TOOLS = [
  { tool: "npm", use: INSTALLS, pinned: "npm", tests: /by npm \d+ without/ },
  { tool: "npx", use: "Runs the package", pinned: "npm", tests: /by npx \d+ without/ },
  { tool: "pnpm 10", use: INSTALLS, pinned: "pnpm", tests: /by pnpm 10 without/ },
  { tool: "pnpm 12", use: INSTALLS, pinned: "@pnpm/exe.linux-x64", tests: /by pnpm 12 without/ },
  { tool: "pnpm dlx", use: "Runs the package", pinned: "@pnpm/exe.linux-x64", tests: /by pnpm dlx without/ },
  { tool: "Yarn classic", use: INSTALLS, pinned: "yarn", tests: /by Yarn classic without/ },
  {
    tool: "Yarn with Plug'n'Play",
    use: INSTALLS,
    pinned: "@yarnpkg/cli-dist",
    tests: /by Yarn with Plug'n'Play without/,
  },
  {
    tool: "Bun",
    use: "Installs the package, and runs the webhooks library",
    pinned: "@oven/bun-linux-x64",
    tests: /by Bun without|works on Bun/,
  },
  { tool: "Deno", use: LIBRARY, pinned: "@deno/linux-x64-glibc", tests: /works on Deno/ },
  { tool: "EdgeVM", use: LIBRARY, pinned: "@edge-runtime/vm", tests: /works on EdgeVM/ },
  { tool: "workerd", use: LIBRARY, pinned: "@cloudflare/workerd-linux-64", tests: /works on workerd/ },
  { tool: "Node.js, webhooks library", use: LIBRARY, version: "20 to 26", tests: /works on Node \d+/ },
  {
    tool: "Node.js, test suite",
    use: "Passes the whole test suite",
    version: "22 and 24",
    tests: /suite passes on Node/,
  },
  { tool: "axios", use: "Sends API requests", pinned: "axios", tests: /axios/i },
  { tool: "got", use: "Reads all pages of a list", pinned: "got", tests: /got reads/ },
  { tool: "ky", use: "Sends API requests", pinned: "ky", tests: /\bky\b/ },
  {
    tool: "eventsource",
    use: "Resumes the event stream after a lost connection",
    pinned: "eventsource",
    tests: /eventsource/i,
  },
  { tool: "oidc-client-ts in Chromium", use: OAUTH, pinned: "oidc-client-ts", tests: /oidc-client-ts/ },
  { tool: "oauth4webapi in Chromium", use: OAUTH, pinned: "oauth4webapi", tests: /oauth4webapi/ },
  { tool: "arctic", use: OAUTH, pinned: "arctic", tests: /arctic/ },
  { tool: "simple-oauth2", use: OAUTH, pinned: "simple-oauth2", tests: /simple-oauth2/ },
  {
    tool: "@badgateway/oauth2-client",
    use: "Finds the endpoints, signs in, refreshes and revokes",
    pinned: "@badgateway/oauth2-client",
    tests: /@badgateway/,
  },
  { tool: "passport-oauth2", use: "Signs in", pinned: "passport-oauth2", tests: /passport-oauth2/ },
  {
    tool: "oidc-provider",
    use: "Passes the OAuth checks that this platform passes",
    pinned: "oidc-provider",
    tests: /^another OAuth server passes|^with known differences/,
  },
  {
    tool: "MCP inspector",
    use: "Lists and calls tools, and reads resources and prompts",
    pinned: "@modelcontextprotocol/inspector",
    tests: /inspector/,
  },
  {
    tool: "Redocly lint",
    use: "Finds no problem in the OpenAPI document",
    pinned: "@redocly/cli",
    tests: /Redocly CLI lint/,
  },
  { tool: "fish", use: "Completes commands", tests: /in fish/ },
  { tool: "HAProxy", use: PROXY, tests: /haproxy/i },
  { tool: "nginx", use: PROXY, tests: /nginx/ },
  { tool: "Caddy", use: PROXY, tests: /Caddy/ },
  { tool: "Auth.js", use: SIGN_IN, pinned: "@auth/core", tests: /signs in with Auth\.js/ },
  { tool: "Better Auth", use: SIGN_IN, pinned: "better-auth", tests: /signs in with Better Auth/ },
  { tool: "openid-client", use: SIGN_IN, pinned: "openid-client", tests: /signs in with openid-client/ },
  { tool: "Authlib", use: SIGN_IN, pinned: "Authlib", tests: /signs in with Authlib/ },
  { tool: "Hey API", use: CLIENT, pinned: "@hey-api/openapi-ts", tests: /hey-api/ },
  { tool: "Orval with zod", use: "Generates schemas that work", pinned: "orval", tests: /orval with zod/ },
  { tool: "openapi-zod-client", use: CLIENT, pinned: "openapi-zod-client", tests: /openapi-zod-client/ },
  { tool: "swagger-typescript-api", use: CLIENT, pinned: "swagger-typescript-api", tests: /swagger-typescript-api/ },
  { tool: "Kubb", use: "Generates types that compile", version: "4.39.3", tests: /Kubb/ },
  { tool: "oazapfts", use: CLIENT, pinned: "oazapfts", tests: /oazapfts/ },
  { tool: "Express, types", use: TYPES, pinned: "@types/express", tests: /strict mode: \S+ express\.js/ },
  { tool: "Koa, types", use: TYPES, pinned: "@types/koa", tests: /strict mode: \S+ koa\.js/ },
  { tool: "AWS Lambda, types", use: TYPES, pinned: "@types/aws-lambda", tests: /strict mode: \S+ lambda\.js/ },
  {
    tool: "Cloudflare Workers, types",
    use: TYPES,
    pinned: "@cloudflare/workers-types",
    tests: /strict mode: \S+ worker\.js/,
  },
  { tool: "Fastify, types", use: TYPES, pinned: "fastify", tests: /strict mode: \S+ fastify\.js/ },
  { tool: "Hono, types", use: TYPES, pinned: "hono", tests: /strict mode: \S+ hono\.js/ },
  { tool: "Next.js, types", use: TYPES, pinned: "next", tests: /strict mode: \S+ app\/webhooks\/route\.js/ },
  { tool: "NestJS, types", use: TYPES, version: "11.1.28", tests: /strict mode: \S+ nest\.ts/ },
  { tool: "SvelteKit, types", use: TYPES, pinned: "@sveltejs/kit", tests: /strict mode: \S+ src\/routes/ },
  { tool: "Astro, types", use: TYPES, pinned: "astro", tests: /strict mode: \S+ src\/pages/ },
  { tool: "h3, types", use: TYPES, pinned: "h3", tests: /strict mode: \S+ h3-/ },
  { tool: "Elysia, types", use: TYPES, pinned: "elysia", tests: /strict mode: \S+ elysia\.ts/ },
  {
    tool: "TypeScript",
    use: "Compiles every example of the guides",
    pinned: "typescript",
    tests: /compiles in strict mode/,
  },
  ...["Python", "Flask", "FastAPI", "PHP", "Go", "Java"].map((tool) => ({
    tool,
    use: RECEIVER,
    tests: RegExp(`${tool} receiver`),
  })),
  { tool: "Puma", use: RECEIVER, tests: /Ruby receiver/ },
  { tool: "Jest", use: "Runs the tests of the guide", pinned: "jest", tests: /^Jest runs/ },
  { tool: "svix", use: SIGNATURES, pinned: "svix", tests: /svix/ },
  { tool: "@octokit/webhooks", use: SIGNATURES, pinned: "@octokit/webhooks", tests: /octokit/ },
  {
    tool: "pre-commit",
    use: "Rejects a commit with an API key",
    pinned: "pre-commit",
    tests: /^pre-commit|pre-commit-hooks/,
  },
  { tool: "promtool", use: "Accepts metrics and alert rules", tests: /^promtool / },
  { tool: "Prometheus", use: "Has data for every query of the dashboard", tests: /^Prometheus / },
  { tool: "kubectl", use: "Builds the manifests", tests: /^kubectl / },
  { tool: "kubernetes-models", use: "Accepts the manifests", pinned: "kubernetes-models", tests: /^the manifests / },
  { tool: "newman", use: "Runs every request of the collection", pinned: "newman", tests: /newman/i },
  {
    tool: "openapi-to-postmanv2",
    use: "Generates a collection whose requests run",
    pinned: "openapi-to-postmanv2",
    tests: /openapi-to-postmanv2/,
  },
  {
    tool: "Prism proxy",
    use: "Accepts generated requests and their responses",
    pinned: "@stoplight/prism-cli",
    tests: /prism/i,
  },
  {
    tool: "openapi-typescript",
    use: "Generates types that compile",
    pinned: "openapi-typescript",
    tests: /openapi-typescript/,
  },
  { tool: "openapi-fetch", use: "Has types that match the responses", pinned: "openapi-fetch", tests: /openapi-fetch/ },
  {
    tool: "service webhooks check --scheme",
    use: "Grades receivers with the providers' libraries",
    tests: /^service webhooks check --scheme/,
  },
];

const sources = readdirSync(tests, { recursive: true })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(tests + name, "utf8"))
  .join("\n");

const files = process.argv.slice(2);
if (files.length === 0) throw new Error("Name the JSON results of `npm run test:interop`.");
/** Of each test file, those of its last run. */
const byFile = new Map(
  files
    .flatMap((file) => JSON.parse(readFileSync(file, "utf8")).testResults)
    .map(({ name, assertionResults }) => [basename(name), assertionResults]),
);
const results = [...byFile.values()].flat();

const path = `${root}docs/contributors/compatibility.md`;
const earlier = readFileSync(path, "utf8")
  .split("\n")
  .map((line) => line.split(/(?<!\\)\|/).map((text) => text.trim().replaceAll("\\|", "|")))
  .map((cells) => cells.slice(1, -1));
const rows = TOOLS.map((entry) => {
  const own = results.filter(({ fullName }) => entry.tests.test(fullName));
  const kept = earlier.find(([tool]) => tool === entry.tool);
  const [version, result] =
    kept !== undefined && resultOf(own) === "Not run" ? [kept[1], kept[3]] : [versionOf(entry, own), resultOf(own)];
  return [entry.tool, version, entry.use, result];
});
const others = results.filter(({ fullName }) => !TOOLS.some((entry) => entry.tests.test(fullName)));
for (const suite of new Set(others.map(({ ancestorTitles }) => ancestorTitles.join(" ")))) {
  const own = others.filter(({ ancestorTitles }) => ancestorTitles.join(" ") === suite);
  rows.push([suite, "", "", resultOf(own)]);
}

const cell = (text) => text.replaceAll("|", "\\|");
const page = `# Compatibility

Results of \`npm run test:interop\`, which tests this package and its platform with third-party tools, on Node.js
${process.version} and ${process.platform}, written by \`scripts/write-compatibility.js\`.

| Tool | Version | In the tests, it | Result |
| --- | --- | --- | --- |
${rows.map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")}

"Not run" means that the tool was not installed. For "types", the examples of the guides are compiled in strict mode.

Not tried: openapi-generator, Bruno, k6, Hurl, Traefik, Envoy and an OpenTelemetry collector. Some environments cannot be
installed: \`test/package/action.test.ts\` runs the steps of \`action.yml\` with bash instead of a GitHub Actions runner. For AWS
Lambda, Vercel and Cloudflare, the tests use Lambda's event formats, EdgeVM and workerd.

\`npm test\` tests what the lockfile installs: the MCP SDK, even in Chromium, openid-client, Express, Fastify, Hono, Koa and
stripe.
`;
writeFileSync(path, page);
execFileSync(process.execPath, [`${root}node_modules/oxfmt/bin/oxfmt`, path]);

function versionOf({ pinned, version }, own) {
  if (pinned !== undefined) {
    const pins = new RegExp(`["'\`]${pinned.replaceAll(/[/.]/g, "\\$&")}(?:@|==|",\\s+")(\\d[\\w.-]*)`, "g");
    return [...new Set(Array.from(sources.matchAll(pins), ([, found]) => found))].join(", ");
  }
  return version ?? own.find(({ meta }) => meta?.toolVersion !== undefined)?.meta.toolVersion ?? "";
}

function resultOf(own) {
  const run = own.filter(({ status }) => status === "passed" || status === "failed");
  const passed = run.filter(({ status }) => status === "passed").length;
  if (run.length === 0) return "Not run";
  return passed === run.length ? "Passes" : `Fails: ${run.length - passed} of ${run.length}`;
}

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

/**
 * Each tool: the package whose version the tests pin, and the full names of its tests. Tests of other programs record the
 * version that they run.
 */
const TOOLS = [
  { tool: "npm", pinned: "npm", tests: /by npm \d+ without/ },
  { tool: "npx", pinned: "npm", tests: /by npx \d+ without/ },
  { tool: "pnpm 10", pinned: "pnpm", tests: /by pnpm 10 without/ },
  { tool: "pnpm 12", pinned: "@pnpm/exe.linux-x64", tests: /by pnpm 12 without/ },
  { tool: "pnpm dlx", pinned: "@pnpm/exe.linux-x64", tests: /by pnpm dlx without/ },
  { tool: "Yarn classic", pinned: "yarn", tests: /by Yarn classic without/ },
  { tool: "Yarn with Plug'n'Play", pinned: "@yarnpkg/cli-dist", tests: /by Yarn with Plug'n'Play without/ },
  { tool: "Bun", pinned: "@oven/bun-linux-x64", tests: /by Bun without|works on Bun/ },
  { tool: "Deno", pinned: "@deno/linux-x64-glibc", tests: /works on Deno/ },
  { tool: "EdgeVM", pinned: "@edge-runtime/vm", tests: /works on EdgeVM/ },
  { tool: "workerd", pinned: "@cloudflare/workerd-linux-64", tests: /works on workerd/ },
  { tool: "Node.js, webhooks library", version: "20 to 26", tests: /works on Node \d+/ },
  { tool: "Node.js, test suite", version: "22 and 24", tests: /suite passes on Node/ },
  { tool: "axios", pinned: "axios", tests: /axios/i },
  { tool: "got", pinned: "got", tests: /got reads/ },
  { tool: "ky", pinned: "ky", tests: /\bky\b/ },
  { tool: "eventsource", pinned: "eventsource", tests: /eventsource/i },
  { tool: "oidc-client-ts in Chromium", pinned: "oidc-client-ts", tests: /oidc-client-ts/ },
  { tool: "oauth4webapi in Chromium", pinned: "oauth4webapi", tests: /oauth4webapi/ },
  { tool: "arctic", pinned: "arctic", tests: /arctic/ },
  { tool: "simple-oauth2", pinned: "simple-oauth2", tests: /simple-oauth2/ },
  { tool: "@badgateway/oauth2-client", pinned: "@badgateway/oauth2-client", tests: /@badgateway/ },
  { tool: "passport-oauth2", pinned: "passport-oauth2", tests: /passport-oauth2/ },
  { tool: "oidc-provider", pinned: "oidc-provider", tests: /^another server passes|^with known differences/ },
  { tool: "MCP inspector", pinned: "@modelcontextprotocol/inspector", tests: /inspector/ },
  { tool: "Redocly lint", pinned: "@redocly/cli", tests: /Redocly CLI lint/ },
  { tool: "fish", tests: /in fish/ },
  { tool: "HAProxy", tests: /haproxy/i },
  { tool: "nginx", tests: /nginx/ },
  { tool: "Caddy", tests: /Caddy/ },
  { tool: "Auth.js", pinned: "@auth/core", tests: /signs in with Auth\.js/ },
  { tool: "Better Auth", pinned: "better-auth", tests: /signs in with Better Auth/ },
  { tool: "openid-client", pinned: "openid-client", tests: /signs in with openid-client/ },
  { tool: "Authlib", pinned: "Authlib", tests: /signs in with Authlib/ },
  { tool: "Hey API", pinned: "@hey-api/openapi-ts", tests: /hey-api/ },
  { tool: "Orval with zod", pinned: "orval", tests: /orval with zod/ },
  { tool: "openapi-zod-client", pinned: "openapi-zod-client", tests: /openapi-zod-client/ },
  { tool: "swagger-typescript-api", pinned: "swagger-typescript-api", tests: /swagger-typescript-api/ },
  { tool: "Kubb", version: "4.39.3", tests: /Kubb/ },
  { tool: "oazapfts", pinned: "oazapfts", tests: /oazapfts/ },
  { tool: "Express, types", pinned: "@types/express", tests: /strict mode: 'express\.js/ },
  { tool: "Koa, types", pinned: "@types/koa", tests: /strict mode: 'koa\.js/ },
  { tool: "AWS Lambda, types", pinned: "@types/aws-lambda", tests: /strict mode: 'lambda\.js/ },
  { tool: "Cloudflare Workers, types", pinned: "@cloudflare/workers-types", tests: /strict mode: 'worker\.js/ },
  { tool: "Fastify, types", pinned: "fastify", tests: /strict mode: 'fastify\.js/ },
  { tool: "Hono, types", pinned: "hono", tests: /strict mode: 'hono\.js/ },
  { tool: "Next.js, types", pinned: "next", tests: /strict mode: 'app\/webhooks\/route\.js/ },
  { tool: "NestJS, types", version: "11.1.28", tests: /strict mode: 'nest\.ts/ },
  { tool: "SvelteKit, types", pinned: "@sveltejs/kit", tests: /strict mode: 'src\/routes/ },
  { tool: "Astro, types", pinned: "astro", tests: /strict mode: 'src\/pages/ },
  { tool: "h3, types", pinned: "h3", tests: /strict mode: 'h3-/ },
  { tool: "Elysia, types", pinned: "elysia", tests: /strict mode: 'elysia\.ts/ },
  { tool: "TypeScript", pinned: "typescript", tests: /compile in strict mode/ },
  { tool: "Python", tests: /in Python rejects/ },
  { tool: "Go", tests: /in Go rejects/ },
  { tool: "Jest", pinned: "jest", tests: /^Jest runs/ },
  { tool: "svix", pinned: "svix", tests: /svix/ },
  { tool: "@octokit/webhooks", pinned: "@octokit/webhooks", tests: /octokit/ },
  { tool: "pre-commit", pinned: "pre-commit", tests: /^pre-commit|pre-commit-hooks/ },
  { tool: "promtool", tests: /^promtool / },
  { tool: "Prometheus", tests: /^Prometheus / },
  { tool: "kubectl", tests: /^kubectl / },
  { tool: "kubernetes-models", pinned: "kubernetes-models", tests: /^the manifests / },
  { tool: "newman", pinned: "newman", tests: /newman/i },
  { tool: "openapi-to-postmanv2", pinned: "openapi-to-postmanv2", tests: /openapi-to-postmanv2/ },
  { tool: "Prism proxy", pinned: "@stoplight/prism-cli", tests: /prism/i },
  { tool: "openapi-typescript", pinned: "openapi-typescript", tests: /openapi-typescript/ },
  { tool: "openapi-fetch", pinned: "openapi-fetch", tests: /openapi-fetch/ },
  { tool: "service webhooks check --scheme", tests: /^service webhooks check --scheme/ },
];

/** Of one tool, in a cell of the table. */
const MAX_TITLES = 1;

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
  if (kept !== undefined && resultOf(own) === "Not run") return kept;
  return [entry.tool, versionOf(entry, own), triedIn(own), resultOf(own)];
});
const others = results.filter(({ fullName }) => !TOOLS.some((entry) => entry.tests.test(fullName)));
for (const suite of new Set(others.map(({ ancestorTitles }) => ancestorTitles.join(" ")))) {
  const own = others.filter(({ ancestorTitles }) => ancestorTitles.join(" ") === suite);
  rows.push([suite, "", triedIn(own), resultOf(own)]);
}

const cell = (text) => text.replaceAll("|", "\\|");
const page = `# Compatibility

Results of \`npm run test:interop\`, which tests this package and its platform with third-party tools, on Node.js
${process.version} and ${process.platform}, written by \`scripts/write-compatibility.js\`.

| Tool | Version | Tests | Result |
| --- | --- | --- | --- |
${rows.map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")}

"Not run" means that no run had a test of the tool, or that the tool was not installed. "Types" are those of the examples of
the guides, compiled in strict mode. Not tried: openapi-generator,
Bruno, k6, Hurl, Traefik, Envoy and an OpenTelemetry collector. Some environments cannot be
installed at all: for a GitHub Actions runner, \`test/package/action.test.ts\` runs the steps of \`action.yml\` with bash; for AWS
Lambda, Vercel and Cloudflare, the tests use the event formats of Lambda, EdgeVM and workerd. What the lockfile installs is
tested by \`npm test\` instead: the MCP SDK, also in Chromium, openid-client, Express, Fastify, Hono, Koa and stripe.
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

/** Returns what the first tests say, which is enough where many are variations. */
function triedIn(own) {
  const titles = [...new Set(own.map(({ fullName }) => fullName))];
  const more = titles.length > MAX_TITLES ? [`${titles.length - MAX_TITLES} more`] : [];
  return [...titles.slice(0, MAX_TITLES), ...more].join("; ");
}

function resultOf(own) {
  const run = own.filter(({ status }) => status === "passed" || status === "failed");
  const passed = run.filter(({ status }) => status === "passed").length;
  if (run.length === 0) return "Not run";
  return passed === run.length ? "Passes" : `Fails: ${run.length - passed} of ${run.length}`;
}

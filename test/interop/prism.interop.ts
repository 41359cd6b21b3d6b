import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { type Json, type Operation, readDocument } from "../platform/fuzz/document.ts";
import { Judge } from "../platform/fuzz/judge.ts";
import { Pool } from "../platform/fuzz/pool.ts";
import { makeRequest, type Request, toBytes } from "../platform/fuzz/requests.ts";
import { Seeded } from "../platform/fuzz/seeded.ts";
import { ValidValues } from "../platform/fuzz/valid-values.ts";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { KeepAlive } from "../support/keep-alive.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

const REQUESTS = 400;
/** `FUZZ_SEED` repeats a run's choices. */
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
/** Prism passes these on as they are. It drops a body that is an empty text, zero, false or null. */
const isForPrism = ({ kind, body, target }: Request) =>
  (kind === "valid" || (kind === "broken body" && /^[{[]/.test(body!.toString()))) && !target.includes("/null");
/** An endless stream, and reports with a signature. */
const ELSEWHERE = ["streamEvents", "reportLeakedKeys"];

interface Violation {
  location: string[];
  severity: string;
  message: string;
}

let platform: ServedPlatform;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-prism-"));
  platform = await servePlatform();
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts Prism between a client and the platform, with a document. Returns its URL. */
async function startPrism(document: string): Promise<string> {
  const prism = await installPackages("@stoplight/prism-cli@5.16.0");
  const node = join(await installPackages("node@24"), "node_modules/node/bin/node");
  const file = join(folder, "openapi.json");
  writeFileSync(file, document);
  const port = await freePort();
  const program = join(prism, "node_modules/@stoplight/prism-cli/dist/index.js");
  const args = [program, "proxy", file, platform.baseUrl, "--port", String(port), "--verboseLevel", "silent"];
  const child = spawn(node, args, { stdio: "ignore" });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, "exit");
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(url), { timeout: 60_000 });
  return url;
}

it(`Prism as a proxy agrees with the platform on ${REQUESTS} generated requests and their responses`, async () => {
  const text = await (await fetch(`${platform.baseUrl}/openapi.json`)).text();
  const url = await startPrism(text);
  const document = readDocument(JSON.parse(text) as Json, ELSEWHERE);
  const operations = document.operations.filter(({ takesSession }) => !takesSession);
  const judge = new Judge(document);
  const seeded = new Seeded(SEED);
  const { body: me } = await apiOf(platform.baseUrl, platform.sandboxKey)("GET", "/v1/me");
  const pool = new Pool([me.credential.id]);
  const tools = {
    document,
    values: new ValidValues(document, pool, seeded, "http://127.0.0.1:9"),
    seeded,
    cursors: [],
    credential: platform.sandboxKey,
    personHeaders: [],
    host: new URL(url).host,
    otherCredential: platform.liveKey,
    breaks: (operation: Operation, body: unknown) => judge.breaks(operation, body),
  };
  const connection = new KeepAlive(url);
  const faults: string[] = [];
  const counts = { succeeded: 0, rejectedByBoth: 0 };
  for (let sent = 0; sent < REQUESTS && faults.length < 10;) {
    const request = makeRequest(seeded.pick(operations), tools);
    if (!isForPrism(request)) continue;
    sent += 1;
    const { status, headers, body } = await connection.send(toBytes(request));
    const violations = JSON.parse(headers["sl-violations"] ?? "[]") as Violation[];
    const [inRequest, inResponse] = ["request", "response"].map((part) =>
      violations.filter(({ location, severity }) => location[0] === part && severity === "Error"),
    ) as [Violation[], Violation[]];
    const found = [
      ...inResponse.map(({ location, message }) => `${location.join(".")}: ${message}`),
      ...(headers["request-id"] === undefined ? ["the platform has not responded"] : []),
      ...(inRequest.length > 0 && status < 400 ? [`${status} for ${inRequest[0]!.message}`] : []),
      ...(inRequest.length > 0 && request.expected === "taken" ? [`allowed, but ${inRequest[0]!.message}`] : []),
    ];
    if (found.length > 0)
      faults.push([toBytes(request).toString().slice(0, 1500), body.slice(0, 500), ...found].join("\n"));
    if (status < 400) {
      counts.succeeded += 1;
      pool.collect(JSON.parse(body));
    } else if (inRequest.length > 0) counts.rejectedByBoth += 1;
  }
  connection.close();
  expect(faults.join("\n\n"), `FUZZ_SEED=${SEED}`).toBe("");
  expect(counts.succeeded).toBeGreaterThan(REQUESTS / 10);
  expect(counts.rejectedByBoth).toBeGreaterThan(0);
});

it("Prism as a proxy would report a response that the document does not allow", async () => {
  const { body: document } = await apiOf(platform.baseUrl, undefined)("GET", "/openapi.json");
  document.components.schemas.CustomerList.required.push("total");
  const response = await apiOf(await startPrism(JSON.stringify(document)), platform.sandboxKey)("GET", "/v1/customers");
  expect(response.status).toBe(200);
  expect(response.headers.get("sl-violations")).toMatch(/"location":\["response","body"\].*'total'/);
});

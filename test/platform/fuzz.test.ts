import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { KeepAlive } from "../support/keep-alive.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { volume } from "../support/volume.ts";
import { type Json, type Operation, readDocument } from "./fuzz/document.ts";
import { Judge } from "./fuzz/judge.ts";
import { signInOwner } from "./fuzz/user.ts";
import { Pool } from "./fuzz/pool.ts";
import { type Cursor, makeRequest, type Request, toBytes } from "./fuzz/requests.ts";
import { Seeded } from "./fuzz/seeded.ts";
import { ValidValues } from "./fuzz/valid-values.ts";

/**
 * `FUZZ_SEED` repeats a run's choices, and `FUZZ_REQUESTS` makes it longer. A run continues until each operation has
 * both succeeded and been rejected.
 */
const REQUESTS = Number(process.env["FUZZ_REQUESTS"] ?? volume(20_000, 1_000));
const MAX_REQUESTS = REQUESTS + 20_000;
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
const CONNECTIONS = 16;
/**
 * These have tests of their own: an endless stream, signed partner reports, the removal of many objects, and requests
 * that fail on purpose.
 */
const ELSEWHERE =
  "streamEvents reportLeakedKeys resetSandbox restoreSnapshot deleteSnapshot createFault getFault deleteFault".split(
    " ",
  );
const CURSORS_KEPT = 60;

let platform: ServedPlatform;
/**
 * A receiver that responds to every fifth delivery with 500, so that some deliveries wait and some have failed
 * attempts.
 */
let received = 0;
const receiver = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(++received % 5 === 0 ? 500 : 200).end());
});

beforeAll(async () => {
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  platform = await servePlatform(["--rate-limit", "100000"]);
});
afterAll(async () => {
  await platform.stop();
  receiver.closeAllConnections();
  receiver.close();
});

interface Seen {
  succeeded: number;
  rejected: number;
}

it(`the API responds to ${REQUESTS} generated requests as documented, without a 5xx (seed ${SEED})`, async () => {
  const root = (await (await fetch(`${platform.baseUrl}/openapi.json`)).json()) as Json;
  const document = readDocument(root, ELSEWHERE);
  const judge = new Judge(document);
  const seeded = new Seeded(SEED);
  const user = await signInOwner(platform);
  const own = [
    await apiOf(platform.baseUrl, platform.sandboxKey)("GET", "/v1/me"),
    await apiOf(platform.baseUrl, undefined)("GET", "/v1/me", undefined, Object.fromEntries(user.headers)),
  ];
  const pool = new Pool(own.map(({ body }) => body.credential.id as string));
  const { port } = receiver.address() as AddressInfo;
  const values = new ValidValues(document, pool, seeded, `http://127.0.0.1:${port}`);
  const cursors: Cursor[] = [];
  const tools = {
    document,
    values,
    seeded,
    cursors,
    credential: platform.sandboxKey,
    personHeaders: user.headers,
    host: new URL(platform.baseUrl).host,
    otherCredential: platform.liveKey,
    breaks: (operation: Operation, body: unknown) => judge.breaks(operation, body),
  };
  const statuses = new Map<number, number>();
  const received = new Map<string, Seen>(document.operations.map(({ id }) => [id, { succeeded: 0, rejected: 0 }]));
  const faults: string[] = [];
  const reported = new Set<string>();
  let sent = 0;

  const exchange = async (connection: KeepAlive) => {
    const request = makeRequest(document.operations[sent++ % document.operations.length]!, tools);
    const response = await connection.send(toBytes(request));
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    const found = judge.faultsOf(request, response);
    if (found.length > 0) {
      // One mistake of the platform appears in many responses, and is reported once.
      if (reported.has(found.join())) return;
      reported.add(found.join());
      faults.push(
        `${request.kind}: ${toBytes(request).toString().slice(0, 1500)}\n→ ${response.status} ${response.body.slice(0, 800)}\n${found.join("\n")}`,
      );
      return;
    }
    const count = received.get(request.operation.id)!;
    if (response.status >= 400) count.rejected++;
    else {
      count.succeeded++;
      keep(request, JSON.parse(response.body) as Json);
    }
  };
  const areAllSeen = () => [...received.values()].every(({ succeeded, rejected }) => succeeded > 0 && rejected > 0);
  const keep = (request: Request, body: Json) => {
    pool.collect(body);
    if (typeof body["next_cursor"] !== "string") return;
    const query = [...new URL(request.target, platform.baseUrl).searchParams].filter(([name]) => name !== "cursor");
    cursors.push({ operation: request.operation, query, cursor: body["next_cursor"] });
    if (cursors.length > CURSORS_KEPT) cursors.shift();
  };
  const connections = Array.from({ length: CONNECTIONS }, () => new KeepAlive(platform.baseUrl));
  await Promise.all(
    connections.map(async (connection) => {
      while (faults.length < 10 && (sent < REQUESTS || (sent < MAX_REQUESTS && !areAllSeen())))
        await exchange(connection);
      connection.close();
    }),
  );

  process.stdout.write(`${summary(statuses, received)}\n`);
  expect(faults.join("\n\n")).toBe("");
  for (const [id, { succeeded, rejected }] of received) {
    expect(succeeded, `${id} was never seen to succeed`).toBeGreaterThan(0);
    expect(rejected, `${id} never rejected a request`).toBeGreaterThan(0);
  }
});

function summary(statuses: Map<number, number>, seen: Map<string, Seen>): string {
  const byStatus = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  const rarest = [...seen].sort(([, a], [, b]) => a.succeeded - b.succeeded).slice(0, 5);
  const few = rarest.map(([id, { succeeded }]) => `${id} ${succeeded}`);
  return `fuzz, seed ${SEED}: ${byStatus.join(", ")}; ${seen.size} operations, fewest successes: ${few.join(", ")}; ${received} deliveries`;
}

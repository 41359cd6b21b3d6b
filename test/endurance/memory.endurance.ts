import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { shortestWait } from "../../src/platform/delivery/retry-schedule.ts";
import { figure } from "../platform/delivery/support/figures.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";

const EVENTS = 10;
const BODY_BYTES = 940_000;
const MEMORY_MB = 384;
const CGROUPS = "/sys/fs/cgroup";
const PATIENT = { timeout: 600_000, interval: 100 };

let folder: string;
let cgroup: string | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "service-memory-"));
  cgroup = createCgroup();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  if (cgroup !== undefined) rmdirSync(cgroup);
});

/**
 * Creates a control group that kills processes above a memory limit. Returns undefined if the system does not allow it.
 */
function createCgroup(): string | undefined {
  const memory = join(CGROUPS, "memory");
  const isFirstVersion = existsSync(join(memory, "memory.limit_in_bytes"));
  const path = join(isFirstVersion ? memory : CGROUPS, `service-test-${process.pid}`);
  const limit = join(path, isFirstVersion ? "memory.limit_in_bytes" : "memory.max");
  try {
    mkdirSync(path);
    writeFileSync(limit, String(MEMORY_MB * 1024 * 1024));
    return path;
  } catch {
    if (existsSync(path)) rmdirSync(path);
    return undefined;
  }
}

/** A platform within that limit, with a database that outlives it. */
class Subject {
  node!: RunningPlatform;
  readonly #database = join(mkdtempSync(join(folder, "data-")), "platform.db");
  #key: string | undefined;

  async start(): Promise<void> {
    const limits = cgroup === undefined ? undefined : `echo $$ > ${join(cgroup, "cgroup.procs")}`;
    this.node = await startNode(this.#database, [], undefined, {}, limits);
    this.#key ??= this.node.sandboxKey;
  }

  async call(method: string, path: string, body?: unknown) {
    const response = await apiOf(this.node.baseUrl, this.#key)(method, path, body);
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    return response.body;
  }

  /** Creates the endpoints first, so that each event has a delivery to each. */
  async createDeliveries(receiver: ScriptedReceiver, endpoints: number): Promise<void> {
    for (let i = 0; i < endpoints; i++) {
      await this.call("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/${i}`, events: ["order.completed"] });
    }
    for (let i = 0; i < EVENTS; i++) {
      const data = { id: `ord_${i}`, filler: "x".repeat(BODY_BYTES) };
      await this.call("POST", "/v1/events", { type: "order.completed", data });
    }
  }

  /** Returns the process's peak memory in megabytes. */
  peak(): number {
    const status = readFileSync(`/proc/${this.node.pid}/status`, "utf8");
    return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
  }
}

async function startSubject(): Promise<Subject> {
  const subject = new Subject();
  await subject.start();
  onTestFinished(() => subject.node.kill());
  return subject;
}

/** Reads whole requests and never responds. */
async function startHangingReceiver(): Promise<ScriptedReceiver> {
  // Drops the bodies, which would fill the test's own memory.
  const receiver = await startScriptedReceiver((request) => void (request.body = ""));
  onTestFinished(() => receiver.close());
  return receiver;
}

const where = () => (cgroup === undefined ? "no control group could be made" : `a control group of ${MEMORY_MB} MB`);

it(`a platform within ${MEMORY_MB} MB attempts large events to 100 endpoints that hang`, async () => {
  const endpoints = 100;
  const receiver = await startHangingReceiver();
  const subject = await startSubject();
  await subject.createDeliveries(receiver, endpoints);
  const attempted = () => new Set(receiver.received.map(({ path, event }) => `${path} ${event}`)).size;
  await expect.poll(attempted, PATIENT).toBe(EVENTS * endpoints);
  const peak = subject.peak();
  figure(`${EVENTS} events of ${BODY_BYTES} bytes to ${endpoints} hanging endpoints (${where()}): peak ${peak} MB`);
  expect(peak).toBeLessThan(MEMORY_MB);
  expect((await fetch(`${subject.node.baseUrl}/readyz`)).status).toBe(200);
  await subject.node.kill();
});

it("the platform attempts hanging deliveries less often after each kill", async () => {
  const endpoints = 5;
  const deliveries = EVENTS * endpoints;
  const receiver = await startHangingReceiver();
  const subject = await startSubject();
  await subject.createDeliveries(receiver, endpoints);
  const waits: number[] = [];
  for (let attempts = 1; attempts <= 3; attempts++) {
    await expect.poll(() => receiver.received.length, PATIENT).toBe(attempts * deliveries);
    await subject.node.kill();
    // The next process knows of the attempts; the first interruption does not count against the delivery.
    await subject.start();
    const { data } = await subject.call("GET", "/v1/deliveries?limit=100");
    expect(data).toHaveLength(deliveries);
    for (const { attempt_count: count, status } of data)
      expect({ count, status }).toEqual({ count: attempts, status: "pending" });
    if (attempts === 1) continue;
    for (const { id, next_attempt: next } of data) {
      const { attempts: made } = await subject.call("GET", `/v1/deliveries/${id}`);
      expect(made).toHaveLength(attempts);
      const wait = Date.parse(next) - Date.parse(made.at(-1).at);
      expect(wait).toBeGreaterThanOrEqual(shortestWait(attempts));
      waits.push(wait);
    }
    expect(receiver.received).toHaveLength(attempts * deliveries);
    expect(subject.peak()).toBeLessThan(MEMORY_MB);
  }
  const seconds = waits.map((wait) => Math.round(wait / 1000));
  figure(
    `${deliveries} deliveries, killed 3 times (${where()}): waits from ${Math.min(...seconds)} to ${Math.max(...seconds)} s`,
  );
});

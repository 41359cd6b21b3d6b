// Webhook deliveries as a team would build them on a queue: each job is one signed POST, made with undici. Queues the
// jobs, prints a line, and begins when it reads one. `node bench/queue-peer.js LIBRARY FOLDER SERVER RECEIVER COUNT BYTES`.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Agent, request } from "undici";
import { signedHeaders } from "./signed-headers.js";

const [library, folder, server, receiver, count, bytes] = process.argv.slice(2);
const load = createRequire(join(folder, "package.json"));
const CONCURRENCY = 32;
const QUEUE = "deliveries";
const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
const jobs = Array.from({ length: Number(count) }, () => ({ url: receiver, body: "x".repeat(Number(bytes)) }));
const fail = (error) => {
  throw error;
};

async function deliver({ url, body }) {
  const headers = signedHeaders(body);
  const response = await request(url, { method: "POST", body, headers, dispatcher });
  await response.body.dump();
  if (response.statusCode >= 300) throw new Error(`HTTP ${response.statusCode}`);
  return { status: response.statusCode };
}

/** Each queues all jobs and returns a function that begins to work, with the settings that its documentation advises. */
const LIBRARIES = {
  async bullmq() {
    const { Queue, Worker } = load("bullmq");
    const connection = { host: "127.0.0.1", port: Number(server), maxRetriesPerRequest: null };
    const attempts = { attempts: 15, backoff: { type: "exponential", delay: 30_000 } };
    const queue = new Queue(QUEUE, { connection, defaultJobOptions: attempts });
    await queue.obliterate({ force: true });
    await queue.addBulk(jobs.map((data) => ({ name: "delivery", data })));
    return async () => {
      const worker = new Worker(QUEUE, ({ data }) => deliver(data), { connection, concurrency: CONCURRENCY });
      worker.on("error", fail);
    };
  },

  async "graphile-worker"() {
    const { makeWorkerUtils, run } = load("graphile-worker");
    const utils = await makeWorkerUtils({ connectionString: server });
    await utils.migrate();
    await utils.addJobs(jobs.map((payload) => ({ identifier: "deliver", payload, maxAttempts: 15 })));
    await utils.release();
    // Its guide to performance: jobs are fetched in batches, and completed and failed in batches.
    const worker = {
      connectionString: server,
      concurrentJobs: CONCURRENCY,
      maxPoolSize: CONCURRENCY,
      localQueue: { size: 4 * CONCURRENCY },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    };
    return () => run({ preset: { worker }, taskList: { deliver }, noHandleSignals: true });
  },

  async "pg-boss"() {
    const Boss = load("pg-boss");
    const boss = new Boss(server);
    boss.on("error", fail);
    await boss.start();
    await boss.createQueue(QUEUE, { name: QUEUE, retryLimit: 15, retryDelay: 30, retryBackoff: true });
    await boss.insert(jobs.map((data) => ({ name: QUEUE, data })));
    // Its workers wait for half a second or more between batches, so batches are fetched and completed directly.
    return async () => {
      const work = async () => {
        for (;;) {
          const batch = await boss.fetch(QUEUE, { batchSize: CONCURRENCY });
          if (batch.length === 0) return;
          await Promise.all(batch.map(({ data }) => deliver(data)));
          await boss.complete(
            QUEUE,
            batch.map(({ id }) => id),
          );
        }
      };
      await Promise.all([work(), work()]);
    };
  },
};

const begin = await LIBRARIES[library]();
process.stdout.write(`${JSON.stringify({ queued: jobs.length })}\n`);
createInterface(process.stdin).once("line", begin);

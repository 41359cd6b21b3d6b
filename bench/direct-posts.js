// The baseline: undici posting the same bytes to the same receiver, 32 at a time, and nothing else.
import { Agent, request } from "undici";

const [url, count, bytes] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const CONCURRENCY = 32;
const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
const body = Buffer.alloc(bytes, "x");
let sent = 0;

async function postAll() {
  while (sent < count) {
    sent += 1;
    const reply = await request(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
      dispatcher,
    });
    await reply.body.dump();
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, postAll));
await dispatcher.close();
process.stdout.write("{}\n");

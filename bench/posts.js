// The baseline of relays and deliveries: undici posting bodies of this many bytes, 32 at a time, and nothing else; with
// `signed` as deliveries are. Prints its processor time in microseconds. `node bench/posts.js URL COUNT BYTES [signed]`.
import { Agent, request } from "undici";
import { signedHeaders } from "./signed-headers.js";

const [url, count, bytes, kind] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4]), process.argv[5]];
const CONCURRENCY = 32;
const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
const event = (filler) => JSON.stringify({ id: "evt_1", type: "order.completed", filler });
const body = Buffer.from(event("x".repeat(bytes - event("").length)));
const plain = { "content-type": "application/json" };
let sent = 0;

async function postAll() {
  while (sent < count) {
    sent += 1;
    const headers = kind === "signed" ? signedHeaders(body) : plain;
    const response = await request(url, { method: "POST", body, headers, dispatcher });
    await response.body.dump();
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, postAll));
await dispatcher.close();
const { user, system } = process.cpuUsage();
process.stdout.write(`${JSON.stringify({ microseconds: user + system })}\n`);

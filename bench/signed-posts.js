// The baseline of deliveries: undici posting signed bodies, 32 at a time, with nothing kept of it.
import { createHmac } from "node:crypto";
import { Agent, request } from "undici";

const [url, count, bytes] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const CONCURRENCY = 32;
const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
const body = "x".repeat(bytes);
const secret = `whsec_${"a".repeat(43)}`;
let sent = 0;

function signature() {
  const t = Math.floor(Date.now() / 1000);
  return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`;
}

async function postAll() {
  while (sent < count) {
    sent += 1;
    const reply = await request(url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "user-agent": "Service-Webhooks/1",
        "service-signature": signature(),
        "service-event-id": "evt_0000000000000000000000",
        "service-delivery-attempt": "1",
      },
      dispatcher,
    });
    await reply.body.dump();
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, postAll));
await dispatcher.close();
process.stdout.write("{}\n");

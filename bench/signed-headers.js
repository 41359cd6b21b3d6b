import { createHmac } from "node:crypto";

const SECRET = `whsec_${"a".repeat(43)}`;

/** Returns the headers of a delivery of this body, signed now. */
export function signedHeaders(body) {
  const t = Math.floor(Date.now() / 1000);
  const mac = createHmac("sha256", SECRET).update(`${t}.`).update(body).digest("hex");
  return {
    "content-type": "application/json",
    "user-agent": "Service-Webhooks/1",
    "service-signature": `t=${t},v1=${mac}`,
    "service-event-id": "evt_0000000000000000000000",
    "service-delivery-attempt": "1",
  };
}

import type * as Library from "../../src/webhooks/index.ts";
import { EVENT, NOW, OTHER_SECRET, PAYLOAD, SECRET } from "./deliveries-data.ts";

/** The outcomes of using the library in a runtime, by name. They are the same everywhere, except for `synchronous`. */
export type RuntimeOutcomes = Record<string, unknown>;

/** The expected outcomes in a runtime with WebCrypto. `synchronous` is true if `node:crypto` exists. */
export function expectedOutcomes(synchronous: boolean): RuntimeOutcomes {
  return {
    known: EVENT.id,
    rotation: [EVENT.id, EVENT.id],
    payloads: [EVENT.id, EVENT.id, EVENT.id],
    codes: ["signature_mismatch", "signature_mismatch", "timestamp_too_old", "payload_not_json", "header_missing"],
    responses: [204, 400, 405, 413],
    request: EVENT.id,
    synchronous: synchronous ? EVENT.type : "crypto_unavailable",
  };
}

/** The MAC of PAYLOAD at NOW from `openssl dgst -sha256 -hmac`, so that no runtime is tested against itself. */
const KNOWN = "1359ab2b52d09f4a042edb6886e62f620cb094582af258c998b2dbb8291db260";

/** Uses the library like an application. Needs only the globals of a Fetch server. */
export async function checkRuntime(library: typeof Library): Promise<RuntimeOutcomes> {
  const { fetchWebhook, sign, signAsync, verify, verifyAsync, verifyRequest } = library;
  const bytes = new TextEncoder().encode(PAYLOAD);
  const header = await signAsync({ payload: PAYLOAD, secrets: [SECRET, OTHER_SECRET], timestamp: NOW });
  const idOf = async (payload: Library.Payload, secrets: string): Promise<string> =>
    (await verifyAsync({ payload, header, secrets, now: NOW })).id;
  const codeOf = async (work: () => unknown): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      return error instanceof library.SignatureError ? error.code : String(error);
    }
  };
  const webhook = fetchWebhook(
    { secrets: async () => [SECRET], now: () => NOW, limit: bytes.length },
    () => new Response(null, { status: 204 }),
  );
  const request = (body: string, method = "POST"): Request => {
    const init = { method, body, headers: { "Service-Signature": header } };
    return new Request("https://receiver.example/", init);
  };
  const statusOf = async (request: Request): Promise<number> => (await webhook(request)).status;
  return {
    known: (await verifyAsync({ payload: bytes, header: `t=${NOW},v1=${KNOWN}`, secrets: SECRET, now: NOW })).id,
    rotation: [await idOf(PAYLOAD, SECRET), await idOf(PAYLOAD, OTHER_SECRET)],
    payloads: [await idOf(PAYLOAD, SECRET), await idOf(bytes, SECRET), await idOf(bytes.buffer, SECRET)],
    codes: [
      await codeOf(async () => idOf(`${PAYLOAD} `, SECRET)),
      await codeOf(async () => idOf(PAYLOAD, "whsec_other")),
      await codeOf(async () => verifyAsync({ payload: bytes, header, secrets: SECRET, now: NOW + 301 })),
      await codeOf(async () => {
        const stray = Uint8Array.of(0x22, 0xff, 0x22);
        return verifyAsync({ payload: stray, header: await signAsync({ payload: stray, secrets: "k" }), secrets: "k" });
      }),
      await codeOf(async () => verifyAsync({ payload: bytes, header: null, secrets: SECRET })),
    ],
    responses: [
      await statusOf(request(PAYLOAD)),
      await statusOf(request(PAYLOAD.replace("4200", "9900"))),
      await statusOf(request(PAYLOAD, "PUT")),
      await statusOf(request(`${PAYLOAD} `)),
    ],
    request: (await verifyRequest(request(PAYLOAD), { secrets: SECRET, now: () => NOW })).id,
    synchronous: await codeOf(
      () => verify({ payload: PAYLOAD, header: sign({ payload: PAYLOAD, secrets: SECRET }), secrets: SECRET }).type,
    ),
  };
}

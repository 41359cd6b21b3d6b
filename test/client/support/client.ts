import { parseBaseUrl } from "../../../src/client/base-url.ts";
import { type Client, type ClientOptions, createClient } from "../../../src/client/http.ts";

/** Creates a client that never waits between attempts and has predictable idempotency keys. */
export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  let serial = 0;
  return createClient({
    baseUrl: parseBaseUrl(baseUrl, { insecure: true }),
    credential: "sk_sandbox_test",
    userAgent: "test",
    signal: new AbortController().signal,
    random: () => 0,
    uuid: () => `key-${++serial}`,
    ...options,
  });
}

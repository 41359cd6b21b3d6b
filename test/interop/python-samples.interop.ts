import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";

const platform = kitPlatform();
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Returns the Python samples of a page of the API reference, by operation. */
async function samplesOf(group: string): Promise<Map<string, string>> {
  const text = await (await fetch(`${platform.baseUrl}/docs/reference/${group}.html`)).text();
  const found = text.matchAll(/<article id="(\w+)".*?data-sample="python"><code>(.*?)<\/code>/gs);
  const plain = (code: string) =>
    code.replaceAll(/<[^>]*>/g, "").replaceAll(/&#(\d+);/g, (_escape, number) => String.fromCharCode(number));
  return new Map([...found].map(([, operation, code]) => [operation!, plain(code!)]));
}

it.skipIf(!hasPython)("the Python samples of the API reference run, and get the object", async () => {
  for (const [group, operation, printed] of [
    ["customers", "createCustomer", "customer['email']"],
    ["customers", "listCustomers", "page['data'][0]['email']"],
    ["orders", "createOrder", "order['metadata']['plan']"],
    ["webhook-endpoints", "createWebhookEndpoint", "webhook_endpoint['url']"],
  ] as const) {
    const code = `${(await samplesOf(group)).get(operation)}\nprint(${printed})`;
    const env = { ...process.env, SERVICE_API_KEY: platform.apiKey };
    const { stdout, stderr } = spawnSync("python3", ["-c", code], { env, encoding: "utf8" });
    expect([operation, stderr, stdout]).toEqual([operation, "", expect.stringMatching(/\w/)]);
  }
});

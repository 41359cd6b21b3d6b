import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import { obtainTokens, refreshWith } from "./oauth/support/authorization-server.ts";
import { type EmbeddedPlatform, startEmbedded } from "./oauth/support/embedded-platform.ts";
import { type OurServer, ourServer } from "./oauth/support/our-server.ts";
import { type Api, type ApiResponse, apiOf } from "../support/api.ts";

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
const invented = (index: number) => formatCredential("sk_live_", createHash("sha256").update(`${index}`).digest());

const partner = keyPair();
let published: { key_identifier: string; key: string; is_current: boolean }[];
let requests = 0;
let source: Server;
let platform: EmbeddedPlatform;
let server: OurServer;
let api: Api;

beforeAll(async () => {
  published = [{ key_identifier: "first", key: pem(partner.publicKey), is_current: true }];
  source = createServer((_request, response) => {
    requests += 1;
    response.end(JSON.stringify({ public_keys: published }));
  });
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  const leakKeys = `http://127.0.0.1:${(source.address() as AddressInfo).port}/keys`;
  platform = await startEmbedded({ leakKeys });
  server = await ourServer(platform);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});
afterAll(async () => {
  await platform.close();
  source.close();
});

function report(
  entries: unknown,
  {
    key = partner.privateKey,
    identifier = "first",
    headers = {},
    to = platform.baseUrl,
  }: { key?: KeyObject; identifier?: string; headers?: Record<string, string>; to?: string } = {},
): Promise<ApiResponse> {
  const body = typeof entries === "string" ? entries : JSON.stringify(entries);
  return apiOf(to, undefined)("POST", "/v1/leaked_keys/report", body, {
    "Github-Public-Key-Identifier": identifier,
    "Github-Public-Key-Signature": sign("sha256", Buffer.from(body), key).toString("base64"),
    ...headers,
  });
}

const entry = (token: string, url = "https://code.example/repo/blob/main/.env#L3") => ({
  token,
  type: "service_api_key",
  url,
  source: "content",
});
const newKey = async () => (await api("POST", "/v1/api_keys", {})).body as { id: string; key: string };

describe("a signed report", () => {
  it("revokes the key before it gets a response, and shows its owner the reason", async () => {
    const { id, key } = await newKey();
    const response = await report([entry(key)]);
    expect(response).toMatchObject({ status: 200 });
    expect(response.body).toEqual([{ token_hash: hashOf(key), token_type: "service_api_key", label: "true_positive" }]);
    const rejected = await apiOf(platform.baseUrl, key)("GET", "/v1/me");
    expect(rejected).toMatchObject({ status: 401, body: { code: "revoked_credential" } });
    expect((await api("GET", `/v1/api_keys/${id}`)).body.revoked_reason).toBe(
      "leaked: https://code.example/repo/blob/main/.env#L3",
    );
  });

  it("never repeats the secret", async () => {
    const { key } = await newKey();
    expect(JSON.stringify((await report([entry(key)])).body)).not.toContain(key);
  });

  it("reports unknown credentials, and responds in order, once per entry", async () => {
    const { key } = await newKey();
    const tokens = [invented(1), key, "sk_live_nonsense", key, ""];
    const response = await report(tokens.map((token) => entry(token, "")));
    expect(response.body.map(({ label }: { label: string }) => label)).toEqual([
      "false_positive",
      "true_positive",
      "false_positive",
      "true_positive",
      "false_positive",
    ]);
  });

  it("keeps the first reason of a key that was revoked before", async () => {
    const { id, key } = await newKey();
    await api("POST", `/v1/api_keys/${id}/revoke`);
    expect((await report([entry(key)])).body[0].label).toBe("true_positive");
    expect((await api("GET", `/v1/api_keys/${id}`)).body.revoked_reason).toBe("revoked");
  });

  it("revokes the whole grant of an access or refresh token", async () => {
    for (const kind of ["access_token", "refresh_token"] as const) {
      const tokens = await obtainTokens(server, "public");
      expect((await report([entry(tokens[kind])])).body[0].label).toBe("true_positive");
      expect(await server.works(tokens.access_token)).toBe(false);
      expect((await refreshWith(server, "public", tokens.refresh_token)).body.error).toBe("invalid_grant");
    }
  });

  it("disables a client secret until it is rotated", async () => {
    const { id, secret } = server.confidentialApp;
    const { refresh_token } = await obtainTokens(server, "confidential");
    expect((await report([entry(secret)])).body[0].label).toBe("true_positive");
    expect((await refreshWith(server, "confidential", refresh_token)).body.error).toBe("invalid_client");
    const rotated = await api("POST", `/v1/oauth_apps/${id}/rotate_secret`);
    server.confidentialApp.secret = rotated.body.client_secret;
    expect((await refreshWith(server, "confidential", refresh_token)).status).toBe(200);
  });

  it("revokes the keys of valid entries, even if others are invalid", async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, newKey));
    const [plain, control, untyped, odd, twice] = keys.map(({ key }) => key);
    const text = `[null, 1, "x", [], {}, {"token": 7, "type": "a"}, {"type": "a"}, {"token": "${plain}"},
      {"token": "${control}", "type": "a", "url": "https://code.example/\\u0000\\u001b[2J\\ud800\\u202e", "more": 1e999},
      {"token": "${untyped}", "type": {"a": 1}, "url": 3, "url": null},
      {"token": "${odd}", "type": "\\u0007", "__proto__": {}},
      {"token": "${twice}", "type": "a"}, {"token": "${twice}", "type": "b"}, {"token": "", "type": "a"}]`;
    const response = await report(text);
    expect(response.status).toBe(200);
    expect(response.body.map((one: Record<string, string>) => [one["token_type"], one["label"]])).toEqual([
      ["", "true_positive"],
      ["a", "true_positive"],
      ["", "true_positive"],
      ["\u0007", "true_positive"],
      ["a", "true_positive"],
      ["b", "true_positive"],
      ["a", "false_positive"],
    ]);
    for (const { key } of keys) expect((await apiOf(platform.baseUrl, key)("GET", "/v1/me")).status).toBe(401);
    expect((await api("GET", `/v1/api_keys/${keys[1]!.id}`)).body.revoked_reason).toBe(
      "leaked: https://code.example/\ufffd\ufffd[2J\ufffd\ufffd",
    );
  });

  it("of very many tokens is fully processed", async () => {
    const { key } = await newKey();
    const entries = [...Array.from({ length: 20_000 }, () => ({ token: "AKIA" })), entry(key)];
    const { body } = await report(entries);
    expect(body).toHaveLength(20_001);
    expect(body.at(-1).label).toBe("true_positive");
  });

  it("without entries returns an empty list", async () => {
    expect((await report([])).body).toEqual([]);
  });

  it("of 10,000 tokens gets a response within 90 s, and the real ones are revoked", async () => {
    const real = await Promise.all(Array.from({ length: 200 }, newKey));
    const entries = Array.from({ length: 10_000 }, (_, index) =>
      entry(index % 50 === 0 ? real[index / 50]!.key : invented(index)),
    );
    const began = performance.now();
    const response = await report(entries);
    expect(performance.now() - began).toBeLessThan(90_000);
    const labels = response.body.map(({ label }: { label: string }) => label) as string[];
    expect(labels.filter((label) => label === "true_positive")).toHaveLength(200);
    const statuses = await Promise.all(
      real.map(async ({ key }) => (await apiOf(platform.baseUrl, key)("GET", "/v1/me")).status),
    );
    expect(new Set(statuses)).toEqual(new Set([401]));
  });
});

describe("a 401 response", () => {
  const rejectedFor = async (sent: Promise<ApiResponse>) => {
    expect(await sent).toMatchObject({ status: 401, body: { code: "invalid_signature" } });
  };

  it("a report without a signature, or with two", async () => {
    const { key } = await newKey();
    const body = JSON.stringify([entry(key)]);
    const send = apiOf(platform.baseUrl, undefined);
    await rejectedFor(send("POST", "/v1/leaked_keys/report", body));
    await rejectedFor(send("POST", "/v1/leaked_keys/report", body, { "Github-Public-Key-Identifier": "first" }));
    await rejectedFor(apiOf(platform.baseUrl, platform.liveKey)("POST", "/v1/leaked_keys/report", body));
    expect((await apiOf(platform.baseUrl, key)("GET", "/v1/me")).status).toBe(200);
  });

  it("a malformed signature, or one by another key or for another body", async () => {
    const { key } = await newKey();
    await rejectedFor(report([entry(key)], { key: keyPair().privateKey }));
    const other = sign("sha256", Buffer.from("[]"), partner.privateKey).toString("base64");
    for (const signature of [other, "", "AAAA", "not base64 at all", "A".repeat(4000)]) {
      await rejectedFor(report([entry(key)], { headers: { "Github-Public-Key-Signature": signature } }));
    }
    expect((await apiOf(platform.baseUrl, key)("GET", "/v1/me")).status).toBe(200);
  });

  it("an unknown key, after one request to the source", async () => {
    // The limit for key lookups has recovered.
    platform.advance(3_600_000);
    const before = requests;
    await rejectedFor(report([], { identifier: "unknown" }));
    expect(requests).toBe(before + 1);
    const second = keyPair();
    published.push({ key_identifier: "second", key: pem(second.publicKey), is_current: true });
    expect((await report([], { identifier: "second", key: second.privateKey })).status).toBe(200);
    expect(requests).toBe(before + 2);
    expect((await report([], { identifier: "second", key: second.privateKey })).status).toBe(200);
    expect(requests).toBe(before + 2);
  });

  it("unknown keys, with a limited number of requests to the source", async () => {
    const before = requests;
    for (let index = 0; index < 30; index++) await rejectedFor(report([], { identifier: `unknown ${index}` }));
    expect(requests - before).toBeLessThan(12);
  });

  it("a report without a published key, before its body is read", async () => {
    const request = httpRequest(`${platform.baseUrl}/v1/leaked_keys/report`, {
      method: "POST",
      agent: false,
      headers: {
        "Content-Type": "application/json",
        "Content-Length": 10_000_000,
        "Github-Public-Key-Identifier": "nobody's",
        "Github-Public-Key-Signature": "AAAA",
      },
    });
    request.on("error", () => {});
    request.flushHeaders();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(401);
    request.destroy();
  });

  it("any report if no keys are configured", async () => {
    const plain = await startEmbedded();
    await rejectedFor(report([], { to: plain.baseUrl }));
    await plain.close();
  });
});

it.each(["{}", "null", '"sk_live_"', "[", ""])(
  "rejects a signed report that is not an array with 400: %s",
  async (body) => {
    expect((await report(body)).status).toBe(400);
  },
);

it("the platform returns 503 if the keys cannot be read", async () => {
  const broken = await startEmbedded({ leakKeys: join(tmpdir(), "there-is-no-such-file.json") });
  expect(await report([], { to: broken.baseUrl })).toMatchObject({ status: 503, body: { code: "unavailable" } });
  await broken.close();
});

it("the platform accepts keys from a file", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "service-leaks-")), "keys.json");
  writeFileSync(file, JSON.stringify({ public_keys: published }));
  const plain = await startEmbedded({ leakKeys: file });
  expect(await report([], { to: plain.baseUrl })).toMatchObject({ status: 200, body: [] });
  await plain.close();
});

it("the platform rejects a plain http source at start", async () => {
  await expect(startEmbedded({ leakKeys: "http://keys.example/" })).rejects.toThrow("https URL or a file");
});

it("the platform limits what it reads from a source", async () => {
  let sent = 0;
  const endless = createServer((_request, response) => {
    const part = Buffer.alloc(64 * 1024, " ");
    const send = () => {
      while (!response.destroyed && response.write(part)) sent += part.length;
    };
    response.on("drain", send);
    send();
  });
  await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
  const port = (endless.address() as AddressInfo).port;
  const plain = await startEmbedded({ leakKeys: `http://127.0.0.1:${port}/keys` });
  const rejected = await report([], { to: plain.baseUrl });
  expect(rejected).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  await plain.close();
  endless.closeAllConnections();
  endless.close();
});

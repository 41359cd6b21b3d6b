import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { Connection } from "../../../src/platform/storage/sqlite/connection.ts";
import { loadSqlite } from "../../../src/platform/storage/sqlite/runtime.ts";
import { apiOf } from "../../support/api.ts";
import {
  authorizationUrl,
  exchange,
  newProof,
  obtainCode,
  post,
  proves,
  refreshWith,
} from "./support/authorization-server.ts";
import { Browser } from "./support/browser.ts";
import { embeddedPlatform } from "./support/embedded-platform.ts";
import { ourServer } from "./support/our-server.ts";
import { sessionApi } from "./support/sign-in.ts";

const PASSWORD = "correct horse battery";

const platform = embeddedPlatform();
/** Every secret that the platform issued or received, by name. */
const secrets: Record<string, string> = {};

beforeAll(async () => {
  const { signInUrl, sandboxKey, liveKey } = platform;
  const linkToken = new URL(signInUrl).searchParams.get("token")!;
  const server = await ourServer(platform);
  const api = apiOf(platform.baseUrl, sandboxKey);
  const headers = { "Idempotency-Key": "once" };
  const { body: created } = await api("POST", "/v1/api_keys", {}, headers);
  const proof = newProof();
  const code = await obtainCode(server, "public", proof);
  const unused = await obtainCode(server, "public", proof);
  const { body: tokens } = await exchange(server, "public", code, proof);
  const { body: refreshed } = await refreshWith(server, "public", tokens.refresh_token);
  const device = (await post(server.endpoints.device, { scope: "read_orders", ...proves(server, "public") })).body;
  const details = { email: "ada@example.com", new_password: PASSWORD };
  const page = await server.browser.get("/account");
  await server.browser.submit(page, details, ({ action }) => action === "/account/details");
  const invite = sessionApi(platform.baseUrl, server.browser);
  const { body: invited } = await invite("POST", "/v1/users", { email: "bob@example.com" });
  const outsider = new Browser(platform.baseUrl);
  await outsider.get(authorizationUrl(server, "public", proof).href);
  Object.assign(secrets, {
    linkToken,
    sandboxKey,
    liveKey,
    createdKey: created.key,
    clientSecret: server.confidentialApp.secret,
    code,
    unused,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    secondAccessToken: refreshed.access_token,
    secondRefreshToken: refreshed.refresh_token,
    deviceCode: device.device_code,
    userCode: device.user_code,
    bareUserCode: device.user_code.replace("-", ""),
    password: PASSWORD,
    session: [...server.browser.cookies.values()][0],
    outsidersCookie: [...outsider.cookies.values()][0],
    invitation: new URL(invited.invitation_url).searchParams.get("token"),
    masterKey: readFileSync(`${platform.database}.key`, "utf8").trim(),
  });
});

it("no table contains a usable key, token, code, secret or password in any form", async () => {
  const dump = new Connection(await loadSqlite(), platform.database, { readOnly: true });
  const tables = dump.all("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => String(name));
  expect(tables).toEqual(expect.arrayContaining(["api_keys", "refresh_tokens", "sessions", "idempotency_keys"]));
  let values = 0;
  for (const table of tables) {
    for (const row of dump.all(`SELECT * FROM "${table}"`)) {
      for (const [column, value] of Object.entries(row)) {
        values += 1;
        const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value));
        for (const [name, secret] of Object.entries(secrets)) {
          for (const form of formsOf(secret)) {
            expect(bytes.includes(form), `${name} in ${table}.${column}`).toBe(false);
          }
        }
      }
    }
  }
  dump.close();
  expect(values).toBeGreaterThan(100);
});

it("stored responses are found by a digest of their Idempotency-Key", async () => {
  const dump = new Connection(await loadSqlite(), platform.database, { readOnly: true });
  const keys = dump.all("SELECT key FROM idempotency_keys").map(({ key }) => String(key));
  dump.close();
  expect(keys).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
});

it("no file except the master key contains a usable key, token, code, secret or password", () => {
  const folder = dirname(platform.database);
  const files = readdirSync(folder).filter((name) => name !== `${basename(platform.database)}.key`);
  expect(files).toContain("platform.db-wal");
  for (const file of files) {
    const bytes = readFileSync(join(folder, file));
    for (const [name, secret] of Object.entries(secrets)) {
      expect(bytes.includes(secret), `${name} in ${file}`).toBe(false);
    }
  }
});

it("the log contains no usable key, token, code, secret or password", () => {
  for (const secret of Object.values(secrets)) expect(platform.logged.join("\n")).not.toContain(secret);
});

/** Returns the secret's text and the bytes that it encodes. */
function formsOf(secret: string): Buffer[] {
  const decoded = [Buffer.from(secret, "base64url"), Buffer.from(secret, "hex")];
  return [Buffer.from(secret), ...decoded.filter(({ length }) => length >= 16)];
}

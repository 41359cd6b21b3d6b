import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  appOf,
  newProof,
  obtainCode,
  obtainTokens,
  post,
  proves,
} from "../platform/oauth/support/authorization-server.ts";
import { type OurServer, ourServer } from "../platform/oauth/support/our-server.ts";
import { type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { runCli } from "../support/run-cli.ts";

const CODES = 40;
const REFRESHES = 20;
const AT_ONCE = 6;

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: ServedPlatform[];
let oauth: OurServer;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  const first = await serveNode(database);
  nodes = [first, await startNode(database)];
  const { baseUrl, sandboxKey, ready } = first;
  oauth = await ourServer({ baseUrl, sandboxKey, signInUrl: ready.sign_in_url!, advance: () => {} });
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await server.remove();
});

/** Posts the same form to both processes several times concurrently. Returns the bodies of the successful responses. */
async function sendToBoth(fields: Record<string, string>): Promise<Record<string, string>[]> {
  const responses = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => post(`${nodes[index % 2]!.baseUrl}/oauth/token`, fields)),
  );
  for (const { status, body } of responses) if (status !== 200) expect(body.error).toBe("invalid_grant");
  return responses.filter(({ status }) => status === 200).map(({ body }) => body as Record<string, string>);
}

describe("two processes at once", () => {
  it(`exchange each of ${CODES} codes only once`, async () => {
    for (let round = 0; round < CODES; round++) {
      const proof = newProof();
      const given = await sendToBoth({
        grant_type: "authorization_code",
        code: await obtainCode(oauth, "public", proof),
        code_verifier: proof.verifier,
        redirect_uri: appOf(oauth, "public").redirectUri,
        ...proves(oauth, "public"),
      });
      expect(given, `round ${round}`).toHaveLength(1);
    }
  });

  // A later refresh may be the retry of a killed client: it gets another successor, which replaces the first.
  it(`leave one valid refresh token in each of ${REFRESHES} rounds`, async () => {
    const started = Date.now();
    for (let round = 0; round < REFRESHES; round++) {
      const { refresh_token } = await obtainTokens(oauth, "public");
      const given = await sendToBoth({ grant_type: "refresh_token", refresh_token, ...proves(oauth, "public") });
      expect(given.length, `round ${round}`).toBeGreaterThan(0);
    }
    const live = await server.query<{ tokens: number; grants: number }>(
      `SELECT count(*)::int AS tokens, count(DISTINCT grant_id)::int AS grants FROM refresh_tokens
       JOIN oauth_grants ON oauth_grants.id = grant_id
       WHERE used_at IS NULL AND replaced_at IS NULL AND revoked_at IS NULL AND oauth_grants.created >= $1`,
      [started],
      database,
    );
    expect(live).toEqual([{ tokens: REFRESHES, grants: REFRESHES }]);
  });
});

describe("a start with an unusable database fails without showing the password", () => {
  /** Returns a changed copy of the URL. */
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(database);
    change(url);
    return url.href;
  };

  it.each<[string, (url: URL) => void, RegExp]>([
    ["where nothing listens", (url) => (url.port = "1"), /ECONNREFUSED|refused|reach/i],
    ["of an unknown host", (url) => (url.hostname = "db.invalid"), /db\.invalid/],
    ["with a wrong password", (url) => (url.password = "hunter2"), /password/i],
    ["of an unknown user", (url) => (url.username = "nobody-here"), /nobody-here/],
    ["of an unknown name", (url) => (url.pathname = "/nothing-here"), /nothing-here/],
    [
      "that is read-only, as a replica is",
      (url) => url.searchParams.set("options", "-c default_transaction_read_only=on"),
      /read-only/,
    ],
  ])("%s", async (_what, change, message) => {
    const url = changed(change);
    const { exitCode, stdout, stderr } = await runCli(["serve", "--port", "0"], {
      env: { SERVICE_DATABASE: url, SERVICE_MASTER_KEY: "5e".repeat(32) },
    });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("inside the program");
    for (const secret of ["hunter2", new URL(database).password]) {
      if (secret !== "") expect(stderr).not.toContain(secret);
    }
  });
});

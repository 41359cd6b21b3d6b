import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveNode } from "../support/platform.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../support/postgres.ts";
import { runCli } from "../support/run-cli.ts";
import { OTHERS, SELF_SIGNED } from "../support/self-signed.ts";

const folder = mkdtempSync(join(tmpdir(), "service-tls-"));
const OURS_FILE = join(folder, "ours.pem");
const OTHERS_FILE = join(folder, "others.pem");
/** A name of this machine that is not among the well-known loopback names. */
const NAME_OF_ANOTHER = "LocalHost";
/** Every connection except the test's own must be encrypted. */
const ACCESS = "host postgres all 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256";

let server: OwnPostgresServer;
let database: string;

beforeAll(async () => {
  writeFileSync(OURS_FILE, SELF_SIGNED.cert);
  writeFileSync(OTHERS_FILE, OTHERS.cert);
  server = await startOwnPostgres();
  database = await server.createDatabase();
});
afterAll(() => server.remove());

/** Writes a file that only the server can read, as it requires for a key. */
async function writeServerFile(name: string, text: string): Promise<void> {
  const lines = `SELECT line FROM unnest(string_to_array('${text.trim()}', E'\\n')) AS line`;
  await server.query(`COPY (${lines}) TO PROGRAM 'umask 077; rm -f ${name}; cat > ${name}'`);
}

async function serveWith({ key, cert }: { key: string; cert: string }): Promise<void> {
  await writeServerFile("server.key", key);
  await writeServerFile("server.crt", cert);
  await writeServerFile("pg_hba.conf", ACCESS);
  await server.query("ALTER SYSTEM SET ssl = on");
  await server.halt();
  await server.resume();
}

/** Returns the database's URL with other parameters, and another host name if given. */
function urlWith(parameters: Record<string, string>, host = "127.0.0.1"): string {
  const url = new URL(database);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

const status = (url: string, ...flags: string[]) => runCli(["db", "status", "--database", url, "--json", ...flags]);

async function expectError(url: string, message: RegExp): Promise<void> {
  const { exitCode, stdout, stderr } = await status(url);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(message);
}

async function expectAccepted(url: string, ...flags: string[]): Promise<void> {
  const { exitCode, stderr } = await status(url, ...flags);
  expect([exitCode, stderr]).toEqual([0, ""]);
}

describe("a server without TLS", () => {
  beforeAll(async () => {
    await server.query("ALTER SYSTEM RESET ssl");
    await server.halt();
    await server.resume();
  });

  it("is rejected with a fix if TLS is required", async () => {
    await expectError(urlWith({ sslmode: "require" }), /does not support TLS.*sslmode=disable/s);
  });
});

describe("a server with a certificate for its name", () => {
  beforeAll(() => serveWith(SELF_SIGNED));

  it("is only used over TLS if its CA is given", async () => {
    const node = await serveNode(urlWith({ sslmode: "verify-full", sslrootcert: OURS_FILE }));
    const connections = await server.query<{ name: string; ssl: boolean; version: string }>(
      `SELECT application_name AS name, s.ssl, s.version FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
       WHERE datname = $1 AND application_name LIKE 'service%' ORDER BY name`,
      [new URL(database).pathname.slice(1)],
    );
    expect(connections.length).toBeGreaterThan(1);
    expect(connections.map(({ name }) => name)).toContain("service notifications");
    for (const { ssl, version } of connections) expect([ssl, version]).toEqual([true, "TLSv1.3"]);
    expect(await node.stop()).toBe(0);
  });

  it("is verified by default except on this machine, even with --database-ca", async () => {
    const away = urlWith({}, NAME_OF_ANOTHER);
    await expectError(away, /certificate is not trusted.*--database-ca FILE/s);
    await expectAccepted(away, "--database-ca", OURS_FILE);
  });

  it("is rejected with cause and fix if another CA is given", async () => {
    for (const sslmode of ["verify-full", "verify-ca", "require"]) {
      const url = urlWith({ sslmode, sslrootcert: OTHERS_FILE });
      await expectError(url, /certificate is not trusted \([A-Z_]+\).*--database-ca FILE/s);
    }
  });

  it("is rejected if the CA file cannot be read, or the mode is not supported", async () => {
    const missing = join(folder, "missing.pem");
    await expectError(urlWith({ sslmode: "verify-full", sslrootcert: missing }), /missing\.pem cannot be read/);
    await expectError(urlWith({ sslmode: "prefer" }), /sslmode=prefer is not supported: use verify-full/);
  });

  it("rejects a client without TLS with the reason if it requires TLS", async () => {
    await expectError(urlWith({}), /requires TLS.*sslmode=verify-full/s);
    await expectAccepted(urlWith({ sslmode: "require" }));
  });
});

describe("a server with a certificate for another name", () => {
  beforeAll(() => serveWith(OTHERS));

  it("is rejected by verify-full with the reason", async () => {
    const url = urlWith({ sslmode: "verify-full", sslrootcert: OTHERS_FILE });
    await expectError(url, /certificate is not for 127\.0\.0\.1.*other\.test/s);
  });

  it("is accepted by verify-ca, and by require without a CA", async () => {
    await expectAccepted(urlWith({ sslmode: "verify-ca", sslrootcert: OTHERS_FILE }));
    await expectAccepted(urlWith({ sslmode: "require" }));
  });
});

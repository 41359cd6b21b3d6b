import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Field, OBJECT_KINDS, RESOURCES } from "../../../src/contract/resources.ts";
import type { Database } from "../../../src/platform/storage/database.ts";
import { MIGRATIONS } from "../../../src/platform/storage/migrations/index.ts";
import { objectTable } from "../../../src/platform/storage/migrations/object-table.ts";
import { SQLITE_TYPES } from "../../../src/platform/storage/migrate.ts";
import { columnOf } from "../../../src/platform/storage/field-values.ts";
import { POSTGRES_TYPES } from "../../../src/platform/storage/postgres/migrate.ts";
import { openDatabase, openReader } from "../../../src/platform/storage/open-database.ts";
import { openPostgres } from "../../../src/platform/storage/postgres/open.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { loadSqlite } from "../../../src/platform/storage/sqlite/runtime.ts";
import { type PostgresServer, usePostgres } from "../../support/postgres.ts";
import { describeError } from "./error-description.ts";
import { temporaryFolder } from "./test-database.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const [first] = MIGRATIONS;

/**
 * The digests that databases record. They never change: if this fails, restore the migration and add another. A new one
 * is added here.
 */
const DIGESTS = {
  sqlite: [
    "a7ba4a25a55c6a91915d95b1c354d05c2877712ca36cddf5905afa5ba82a2298",
    "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
    "df8ce18f06ed48bfa965e290786ffd8fdb00eccb078eb968d43f936105f89926",
    "df0145ff79c02f92f58685e6e51641ebaf73ca43155d2f93ed42ede0d9de49a5",
    "532964deff8e8b6248186ea64ec6b882e7cc9c1675db86d292dc84ee1a89e536",
    "52ff534d2be8730b66154b428d6313f7042037e7a3a19ce9cb58c03395c0a2b5",
    "3e5b81bddfd168bfbcaa0975d7d323d1bc930f2a465de048f33e7d263044f188",
    "9f9685a389bcc5e692c48028858c9f759c1aed4bfddd3a70fcf0f10f4bec0066",
    "6f2bccb512417fbb69f8b65244d24a14fc985393dfa1fa5f9d975f10ea484c81",
    "244853eca09f5cef04c9e73e4e7f183bd5b0ed8ced2c91c76f01c36f7bfdd9e8",
    "b0aad2a0c60aa93911730984db7d921eaaec59827effbab03c8902e0a30d6941",
    "6d4eb1dfe36da2214d81c78941f8a6bf8f82179d4dad93b8ca39c43642cbe62f",
    "c030a93fe9d5ec6fdc28a3259be5934b778a053f7ae632127691b7cba32e29ed",
  ],
  postgres: [
    "54ed36187039bf3fddc55b1d8ea722c6f57398d057cc25ddd15f43bd5b1b435d",
    "7cdd8ae6601ed31410c37e3b4b1e5ebcbb586b6912680a7c4188ed5c20b4bcdc",
    "df8ce18f06ed48bfa965e290786ffd8fdb00eccb078eb968d43f936105f89926",
    "c5db04cad8ac1f3dc873d82c42bfe8171b3c7860898287052999549e722408b7",
    "c30b7c74078f4fc7675cf1a3d41ed3f4df85e6e7de5e243194d7456b2ac1ab20",
    "2b22598de0d70f199a88605f8e30a36adb4f5a02e84b6b3638f2287587e63b56",
    "0b95a4086ea8b6bd048c5f06382a381d084f9f806c3678e058876568477832df",
    "214bd9e3e5563e31e0208fd2c8cc367e77b0714b48666f88aca211a335a083b0",
    "6f2bccb512417fbb69f8b65244d24a14fc985393dfa1fa5f9d975f10ea484c81",
    "244853eca09f5cef04c9e73e4e7f183bd5b0ed8ced2c91c76f01c36f7bfdd9e8",
    "b0aad2a0c60aa93911730984db7d921eaaec59827effbab03c8902e0a30d6941",
    "7b183052dfb515bafd84b50e600c9708d872f2ba03564935aa8dd9352990fca3",
    "78442570160f346c71af9b3bc01544dd7938dd289eaa5a876c5f465416225916",
  ],
};

let server: PostgresServer & { remove(): Promise<void> };
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  server = await usePostgres();
});
afterAll(() => server.remove());
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** An empty database, which a build with only the first migration can open, and any SQL can change. */
const ENGINES = {
  SQLite: async () => {
    const file = join(folder.path, "platform.db");
    return {
      url: file,
      openFirst: (): Promise<Database> => openSqlite({ file, migrations: [first!], version: "0.1.0" }),
      async run(sql: string) {
        const { DatabaseSync } = await loadSqlite();
        const connection = new DatabaseSync(file);
        connection.exec(sql);
        connection.close();
      },
      contents: async () => readFileSync(file).toString("latin1"),
    };
  },
  PostgreSQL: async () => {
    const url = await server.createDatabase();
    return {
      url,
      openFirst: (): Promise<Database> => openPostgres({ url, migrations: [first!], version: "0.1.0" }),
      run: (sql: string) => server.query(sql, [], url),
      contents: async () => {
        const columns =
          "SELECT string_agg(concat_ws(' ', table_name, column_name), ',' ORDER BY table_name, column_name)";
        const sql = `SELECT (${columns} FROM information_schema.columns WHERE table_schema = 'public') AS columns,
                            (SELECT string_agg(CAST(m AS TEXT), ',') FROM schema_migrations m) AS migrations`;
        return JSON.stringify(await server.query(sql, [], url));
      },
    };
  },
};

describe.each(Object.entries(ENGINES))("the migrations of %s", (_name, create) => {
  let place: Awaited<ReturnType<typeof create>>;

  beforeEach(async () => {
    place = await create();
  });

  const open = (): Promise<Database> => openDatabase({ database: place.url, version: "0.2.0", log });

  it("match those recorded in existing databases", async () => {
    const database = await open();
    const rows = await database.all<{ digest: string }>("SELECT digest FROM schema_migrations ORDER BY number");
    const known = DIGESTS[database.dialect];
    const added = rows.slice(known.length).map(({ digest }) => `    "${digest}",`);
    expect(added, `add to DIGESTS.${database.dialect}:\n${added.join("\n")}`).toEqual([]);
    expect(rows.map(({ digest }) => digest)).toEqual(known);
    await database.close();
  });

  it.each(OBJECT_KINDS)(
    "give the %s table the columns of its fields, and an index for each that is unique or a filter",
    async (kind) => {
      const fields = Object.entries<Field>(RESOURCES[kind].fields);
      const columns = fields.map(([name, field]) => {
        const isSet = field.required || ["status", "map"].includes(field.type);
        return [columnOf(name, field), isSet ? field.type : (`${field.type}?` as const)];
      });
      const unique = fields.filter(([, field]) => field.unique).map(([name]) => name);
      const database = await open();
      const types = database.dialect === "sqlite" ? SQLITE_TYPES : POSTGRES_TYPES;
      const filters = fields.filter(([, { filter, unique: isUnique }]) => filter && !isUnique);
      const filtered = filters.map(([name, field]) => columnOf(name, field));
      for (const statement of objectTable(types, "expected", Object.fromEntries(columns), filtered, unique))
        await database.write((tx) => tx.run(statement));
      const columnsOf = (table: string) =>
        database.all(
          database.dialect === "sqlite"
            ? `SELECT name, type, "notnull", pk FROM pragma_table_info('${table}') ORDER BY name`
            : `SELECT column_name, data_type, is_nullable, collation_name FROM information_schema.columns
             WHERE table_name = '${table}' ORDER BY column_name`,
        );
      expect(await columnsOf(RESOURCES[kind].plural)).toEqual(await columnsOf("expected"));
      const indexesOf = (table: string) =>
        database.all(
          database.dialect === "sqlite"
            ? `SELECT "unique", (SELECT group_concat(name) FROM pragma_index_info(one.name)) AS columns
             FROM pragma_index_list('${table}') one ORDER BY columns`
            : `SELECT indisunique, (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = indexrelid) AS columns
             FROM pg_index WHERE indrelid = '${table}'::regclass ORDER BY columns`,
        );
      expect(await indexesOf(RESOURCES[kind].plural)).toEqual(await indexesOf("expected"));
      await database.close();
    },
  );

  it("accept a database whose first migration has no digest, and store the digest", async () => {
    await (await place.openFirst()).close();
    await place.run("ALTER TABLE schema_migrations DROP COLUMN digest");
    for (let start = 0; start < 2; start++) {
      const database = await open();
      expect(await database.all("SELECT number, version, digest FROM schema_migrations ORDER BY number")).toEqual(
        MIGRATIONS.map(({ number }) => ({
          number,
          version: number === 1 ? "0.1.0" : "0.2.0",
          digest: number === 1 ? DIGESTS[database.dialect][0] : expect.stringMatching(/^[0-9a-f]{64}$/),
        })),
      );
      await database.close();
    }
  });

  it("keep the clock of a sandbox that was set back, and give full-access keys every permission", async () => {
    await (await place.openFirst()).close();
    const bytes = (text: string) => (place.url.startsWith("postgres") ? `'\\x${text}'` : `x'${text}'`);
    const key = (id: string, kind: string) =>
      `INSERT INTO api_keys (id, environment, digest, kind, prefix, last4, scopes, ip_allowlist, created)
       VALUES ('${id}', 1, ${bytes(id === "key_1" ? "01" : "02")}, '${kind}', 'sk', 'abcd', '["orders:read"]', '[]', 1)`;
    await place.run(
      `INSERT INTO accounts (id, name, version, created) VALUES ('acct_1', 'Test', '2026-11-01', 1);
       INSERT INTO environments (id, account_id, name, clock_offset, ids_ahead_from, ids_ahead_until)
       VALUES (1, 'acct_1', 'sandbox', 3600000, 1, 2);
       ${key("key_1", "secret_key")}; ${key("key_2", "restricted_key")}`,
    );
    const database = await open();
    expect(await database.all("SELECT * FROM environments")).toMatchObject([
      { id: 1, name: "sandbox", clock_offset: 3_600_000, since: null },
    ]);
    expect(await database.all("SELECT scopes FROM api_keys ORDER BY id")).toEqual([
      { scopes: '["orders:read","sandbox:read","sandbox:write"]' },
      { scopes: '["orders:read"]' },
    ]);
    await database.close();
  });

  it("give the errors of attempts and requests their new names", async () => {
    await (await place.openFirst()).close();
    const attempt = (delivery: string, error: string) =>
      `INSERT INTO attempts (delivery_id, number, at, error, duration_ms) VALUES ('${delivery}', 1, 60000, '${error}', 3)`;
    const counted = (error: string) =>
      `INSERT INTO attempt_counts (environment, minute, endpoint_id, status_code, error, bucket, count, last_at)
       VALUES (1, 1, '', 0, '${error}', 0, 1, 60000)`;
    const request = (id: string, code: string) =>
      `INSERT INTO request_logs (environment, id, method, path, status, duration_us, error_code)
       VALUES (1, '${id}', 'POST', '/v1/api_keys', 403, 1, '${code}')`;
    await place.run(
      `INSERT INTO accounts (id, name, version, created) VALUES ('acct_1', 'Test', '2026-11-01', 1);
       INSERT INTO environments (id, account_id, name) VALUES (1, 'acct_1', 'sandbox');
       ${attempt("dlv_1", "invalid_reply: not HTTP")}; ${attempt("dlv_2", "dns: unknown")};
       ${counted("invalid_reply: not HTTP")}; ${counted("dns: unknown")};
       ${request("req_1", "exceeds_maker")}; ${request("req_2", "invalid_request")}`,
    );
    const database = await open();
    const errors = ["invalid_response: not HTTP", "dns: unknown"];
    const read = async (sql: string) => (await database.all<{ text: string }>(sql)).map(({ text }) => text);
    expect(await read("SELECT error AS text FROM attempts ORDER BY delivery_id")).toEqual(errors);
    expect((await read("SELECT error AS text FROM attempt_counts")).toSorted()).toEqual(errors.toSorted());
    expect(await read("SELECT error_code AS text FROM request_logs ORDER BY id")).toEqual([
      "exceeds_creator",
      "invalid_request",
    ]);
    await database.close();
  });

  it.each([
    [
      "has another column and no digest",
      "ALTER TABLE environments DROP COLUMN ids_ahead_from; ALTER TABLE schema_migrations DROP COLUMN digest",
    ],
    [
      "has later migrations and no digest",
      "ALTER TABLE schema_migrations DROP COLUMN digest; INSERT INTO schema_migrations VALUES (2, 'other', '0.1.0')",
    ],
    ["has another digest", "UPDATE schema_migrations SET digest = 'other'"],
  ])("are not applied to a database that %s", async (_what, sql) => {
    await (await place.openFirst()).close();
    await place.run(sql);
    const before = await place.contents();
    expect(await describeError(open())).toEqual({
      code: "unreleased_schema",
      message:
        "The database was created by an unreleased build of `service`, from which there is no upgrade. Nothing was " +
        "changed. Open it with that build, or use a new database.",
    });
    expect(await place.contents()).toBe(before);
  });
});

it("are checked before a command reads an SQLite file", async () => {
  const place = await ENGINES.SQLite();
  await (await place.openFirst()).close();
  await place.run("UPDATE schema_migrations SET digest = 'other'");
  const reading = openReader({ database: place.url, version: "0.2.0", log });
  expect(await describeError(reading)).toMatchObject({ code: "unreleased_schema" });
});

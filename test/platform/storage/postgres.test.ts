import { afterAll, beforeAll } from "vitest";
import { openPostgres } from "../../../src/platform/storage/postgres/open.ts";
import { type PostgresServer, usePostgres } from "../../support/postgres.ts";
import { describeDatabase } from "./conformance.ts";

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let schemas = 0;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
});
afterAll(() => server.remove());

/** A separate schema in one database. */
async function postgresPlace() {
  const schema = `place_${(schemas += 1)}`;
  await server.query(`CREATE SCHEMA ${schema}`, [], database);
  const url = new URL(database);
  url.searchParams.set("options", `-c search_path=${schema}`);
  return {
    open: (migrations: Parameters<typeof openPostgres>[0]["migrations"]) =>
      openPostgres({ url: url.href, migrations, connections: 8 }),
    remove: async () => {
      await server.query(`DROP SCHEMA ${schema} CASCADE`, [], database);
    },
  };
}

describeDatabase("PostgreSQL", postgresPlace);

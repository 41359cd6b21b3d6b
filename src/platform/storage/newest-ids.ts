import { timeOfId } from "../../contract/ids.ts";
import { kindsWith, RESOURCES, statusesOf } from "../../contract/resources.ts";
import type { Queries } from "./database.ts";
import { allEnvironments } from "./environments.ts";

/** Tables whose IDs are created on their environment's clock, each with an index that begins with the environment. */
const OF_ENVIRONMENT = [
  ...kindsWith("fields").map((kind) => RESOURCES[kind].plural),
  "events",
  "replays",
  "webhook_endpoints",
  "api_keys",
  "bulk_operations",
  "oauth_apps",
];
/** Tables whose ids are created in real time. */
const OF_DEPLOYMENT = ["accounts", "users", "sessions", "oauth_grants", "access_tokens"];

/** The times of the newest IDs, which new ones must follow even if the clock was set back. Unix milliseconds. */
export interface NewestIds {
  /** Of what belongs to no environment; undefined if there is nothing. */
  deployment: number | undefined;
  /** By environment, on its own clock. */
  environments: ReadonlyMap<number, number>;
}

export async function findNewestIds(queries: Queries): Promise<NewestIds> {
  const deployment = await newestOf(
    queries,
    OF_DEPLOYMENT.map((table) => `SELECT MAX(id) AS id FROM ${table}`),
  );
  const environments = new Map<number, number>();
  let requests: number | undefined;
  for (const { id } of await allEnvironments(queries)) {
    const own = (table: string, more = "") => `SELECT MAX(id) AS id FROM ${table} WHERE environment = ${id} ${more}`;
    const deliveries = statusesOf("delivery").map((status) => own("deliveries", `AND status = '${status}'`));
    const newest = await newestOf(queries, [...OF_ENVIRONMENT.map((table) => own(table)), ...deliveries]);
    if (newest !== undefined) environments.set(id, newest);
    const request = await newestOf(queries, [own("request_logs")]);
    requests = latest([requests, request]);
  }
  return { deployment: latest([deployment, requests]), environments };
}

async function newestOf(queries: Queries, selects: readonly string[]): Promise<number | undefined> {
  const rows = await Promise.all(selects.map((sql) => queries.get<{ id: string | null }>(sql)));
  return latest(rows.map((row) => (row === undefined || row.id === null ? undefined : timeOfId(row.id))));
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const existing = times.filter((time) => time !== undefined);
  return existing.length === 0 ? undefined : Math.max(...existing);
}

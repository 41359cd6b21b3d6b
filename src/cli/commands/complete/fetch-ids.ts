import type { Page } from "../../../client/pages.ts";
import type { Context } from "../../context.ts";
import { isAlive } from "../../session/freshness.ts";
import type { Suggestion } from "./sources.ts";

/** A person who pressed Tab waits for the answer. */
const TIMEOUT_MILLISECONDS = 2000;
const COUNT = 30;
const DESCRIPTIVE_FIELDS = ["email", "url", "type", "name", "event_type", "status"];
const MAX_DESCRIPTION_LENGTH = 60;

type Item = { id?: unknown } & Record<string, unknown>;

/** The newest ids of a list of the API. Nothing, quietly, where they cannot be had at once. */
export async function fetchIds(path: string, context: Context): Promise<Suggestion[]> {
  const connection = await context.connection();
  const stored = connection.credential?.value;
  if (stored === undefined) return [];
  // A session is renewed by commands, which may wait for it.
  if (stored.type === "oauth" && !isAlive(stored, context.now())) return [];
  const key = stored.type === "oauth" ? stored.access_token : stored.api_key;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MILLISECONDS)]);
  const client = await context.clientFor(connection.baseUrl.value, key, signal);
  const { body } = await client.request<Page<Item>>({ method: "GET", path, query: { limit: COUNT } });
  return body.data.map((item) => ({ value: String(item.id), description: descriptionOf(item) }));
}

function descriptionOf(item: Item): string {
  const name = DESCRIPTIVE_FIELDS.find((candidate) => typeof item[candidate] === "string");
  return name === undefined ? "" : String(item[name]).slice(0, MAX_DESCRIPTION_LENGTH);
}

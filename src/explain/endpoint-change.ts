import { timeOfId } from "../contract/ids.ts";
import { parseJson } from "../contract/json.ts";
import type { User } from "../contract/schemas/account.ts";
import type { ApiKey } from "../contract/schemas/api-key.ts";
import type { RequestLogDetail } from "../contract/schemas/request-log.ts";

/** A change of an endpoint through the API: the fields of the request. */
export interface EndpointChange {
  /** The environment's time, in Unix milliseconds. */
  time: number;
  /** The ID of the request. */
  request: string;
  /** Who made it: `by ada@example.com`. */
  by: string;
  url?: string;
  events?: string[];
  status?: string;
}

/** How the test clock was advanced. */
interface ClockHistory {
  /** The requests that did so. */
  advances: readonly RequestLogDetail[];
  /** How far it is ahead now, in seconds. */
  offset: number;
}

interface Context extends ClockHistory {
  /** The API keys of requests that disabled an endpoint, as far as they can be read. */
  keys: readonly (ApiKey | undefined)[];
  /** The users of the account, as far as they can be read. */
  users: readonly User[];
}

/**
 * Returns when a request was sent, in Unix milliseconds of the environment's time. Requests have real times, and the
 * clock had not been advanced as far as it is now.
 */
export function environmentTimeOf({ id }: { id: string }, { advances, offset }: ClockHistory): number {
  const later = advances.filter((advance) => timeOfId(advance.id) > timeOfId(id));
  const seconds = later.map(({ request_body: body }) => fieldsOf<{ seconds: number }>(body).seconds ?? 0);
  return timeOfId(id) + seconds.reduce((left, one) => left - one, offset) * 1000;
}

/** Returns the changes of an endpoint that requests made. */
export function changesIn(requests: readonly RequestLogDetail[], { keys, users, ...clock }: Context): EndpointChange[] {
  return requests.map((request) => ({
    ...fieldsOf<Pick<EndpointChange, "url" | "events" | "status">>(request.request_body),
    time: disabledAt(request) ?? environmentTimeOf(request, clock),
    request: request.id,
    by:
      request.key === null
        ? `by ${users.find(({ id }) => id === request.user)?.email ?? "a user"}`
        : `with ${nameOfKey(keys.find((key) => key?.id === request.key))}`,
  }));
}

export function isDisabling({ request_body: body }: RequestLogDetail): boolean {
  return fieldsOf<EndpointChange>(body).status === "disabled";
}

/** The response to a request that disabled an endpoint has its time. */
function disabledAt(request: RequestLogDetail): number | undefined {
  const { disabled_at: at } = fieldsOf<{ disabled_at: string | null }>(request.response_body);
  return isDisabling(request) && typeof at === "string" ? Date.parse(at) : undefined;
}

function nameOfKey(key: ApiKey | undefined): string {
  return key === undefined
    ? "an API key"
    : `the API key ${key.name === null ? `${key.prefix}…${key.last4}` : `"${key.name}"`}`;
}

/** Returns the fields of a request's JSON: none if it was not stored whole. */
function fieldsOf<Fields>(body: string | null): Partial<Fields> {
  return parseJson(body ?? "") ?? {};
}

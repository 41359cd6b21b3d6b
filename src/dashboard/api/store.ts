import { useLayoutEffect, useReducer } from "preact/hooks";
import type { Environment } from "../../contract/environments.ts";
import { kindsWith, pathOf } from "../../contract/resources.ts";
import type { Event } from "../../contract/schemas/event.ts";
import { environment } from "../router.tsx";
import { asCallError, call, type CallError, send } from "./call.ts";
import { follow, liveState, type Topic } from "./live.ts";

/** The state of one read: nothing yet, an error, or data (and the error of a later try next to it). */
export interface Query<Data> {
  data: Data | undefined;
  error: CallError | undefined;
  reload: () => void;
}

/** One read of an environment, shared by all components that show it. */
interface Entry {
  environment: Environment;
  path: string;
  ask: (of: Environment, path: string) => Promise<unknown>;
  data: unknown;
  error: CallError | undefined;
  /** Components to render after a change. */
  users: Set<() => void>;
  isReading: boolean;
  /** It changed during the read. */
  isOutdated: boolean;
  startedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Maximum number of unused entries that are kept, so that Back shows them at once. */
const MAX_ENTRIES = 200;
/** A path is read at most once a second. */
const MIN_PAUSE_MILLISECONDS = 1000;
/** How often visible data is read while the stream is down, or the last read failed. */
const POLL_MILLISECONDS = 2000;
/** Statistics change with time alone. */
const STATISTICS_MILLISECONDS = 30_000;

const entries = new Map<string, Entry>();
environment.subscribe(() => {
  for (const { timer } of entries.values()) clearTimeout(timer);
  entries.clear();
});

/** Returns a function that renders the component again. */
export function useRedraw(): () => void {
  return useReducer<number, void>((count) => count + 1, 0)[1];
}

/** Removes the oldest entries of a map until it has at most this many. */
export function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) break;
    map.delete(key);
  }
}

/** Reads a path and keeps it current while it is shown; `undefined` reads nothing. */
export function useQuery<Data>(path: string | undefined): Query<Data> {
  return useEntry(path, readJson) as Query<Data>;
}

/** Reads the response of a path as text, byte for byte. */
export function useText(path: string | undefined): Query<string> {
  return useEntry(path, readText) as Query<string>;
}

function useEntry(path: string | undefined, ask: Entry["ask"]): Query<unknown> {
  const draw = useRedraw();
  const entry = path === undefined ? undefined : entryOf(path, ask);
  // Before the first paint, because the user waits for this data.
  useLayoutEffect(() => {
    if (entry === undefined) return undefined;
    entry.users.add(draw);
    void refresh(entry);
    return () => {
      entry.users.delete(draw);
    };
  }, [entry]);
  return { data: entry?.data, error: entry?.error, reload: () => entry && void refresh(entry) };
}

function readJson(of: Environment, path: string): Promise<unknown> {
  return call(of, "GET", path);
}

async function readText(of: Environment, path: string): Promise<string> {
  return await (await send(of, "GET", path)).text();
}

function entryOf(path: string, ask: Entry["ask"]): Entry {
  const { value: of } = environment;
  const key = `${of} ${ask === readText ? "text" : "json"} ${path}`;
  const entry = entries.get(key) ?? {
    environment: of,
    path,
    ask,
    data: undefined,
    error: undefined,
    users: new Set(),
    isReading: false,
    isOutdated: false,
    startedAt: 0,
    timer: undefined,
  };
  // The map is ordered by last use.
  entries.delete(key);
  entries.set(key, entry);
  for (const [old, { users }] of entries) {
    if (entries.size <= MAX_ENTRIES) break;
    if (users.size === 0 && old !== key) entries.delete(old);
  }
  return entry;
}

/** Reads an entry now, or once more after the current read. */
async function refresh(entry: Entry): Promise<void> {
  if (entry.isReading) {
    entry.isOutdated = true;
    return;
  }
  clearTimeout(entry.timer);
  entry.timer = undefined;
  entry.isReading = true;
  entry.isOutdated = false;
  entry.startedAt = Date.now();
  try {
    entry.data = await entry.ask(entry.environment, entry.path);
    entry.error = undefined;
  } catch (error) {
    entry.error = asCallError(error);
  }
  entry.isReading = false;
  for (const user of entry.users) user();
  if (entry.isOutdated) refreshSoon(entry);
}

function refreshSoon(entry: Entry): void {
  if (entry.users.size === 0 || entry.timer !== undefined) return;
  if (entry.isReading) {
    entry.isOutdated = true;
    return;
  }
  // Statistics of a day or more cost more to count, and change less.
  const isLongRange = /[?&]minutes=\d{4}/.test(entry.path);
  const pause = isLongRange ? STATISTICS_MILLISECONDS : MIN_PAUSE_MILLISECONDS;
  const wait = Math.max(0, entry.startedAt + pause - Date.now());
  entry.timer = setTimeout(() => {
    entry.timer = undefined;
    void refresh(entry);
  }, wait);
}

/** The paths that each topic changes. */
const PATHS: Record<Topic, readonly string[]> = {
  deliveries: ["/v1/deliveries", "/v1/bulk_operations", "/v1/statistics", "/v1/webhook_endpoints"],
  clock: ["/v1/test_clock", "/v1/deliveries", "/v1/statistics"],
  listeners: ["/v1/statistics"],
  requests: ["request_log", "webhook_endpoint", "api_key", "oauth_app"].map(pathOfKind),
};

function pathOfKind(kind: string): string {
  const known = kindsWith("plural").find((name) => name === kind);
  return known === undefined ? "" : pathOf(known);
}

function invalidate(isOutdated: (entry: Entry) => boolean): void {
  for (const entry of entries.values()) if (isOutdated(entry)) refreshSoon(entry);
}

/** Keeps visible data current with the stream, and by polling while the stream is down. Returns a function to stop. */
export function startStore(): () => void {
  const stop = follow({
    event({ type }: Event) {
      const [kind = ""] = type.split(".");
      const own = pathOfKind(kind);
      invalidate(
        ({ path, ask }) =>
          ask === readJson &&
          [own, "/v1/events", "/v1/deliveries", "/v1/statistics"].some(
            (start) => start !== "" && path.startsWith(start),
          ),
      );
    },
    changed(topic) {
      invalidate(({ path }) => PATHS[topic].some((start) => path.startsWith(start)));
    },
    missed() {
      invalidate(({ ask }) => ask === readJson);
    },
  });
  const timer = setInterval(() => {
    if (document.visibilityState === "hidden") return;
    invalidate(({ path, ask, error, startedAt }) => {
      const age = Date.now() - startedAt;
      if (error !== undefined) return error.status !== 404 && age >= POLL_MILLISECONDS;
      if (ask === readText) return false;
      return liveState.value === "live"
        ? path.startsWith("/v1/statistics") && age >= STATISTICS_MILLISECONDS
        : age >= POLL_MILLISECONDS;
    });
  }, POLL_MILLISECONDS / 2);
  return () => {
    stop();
    clearInterval(timer);
  };
}

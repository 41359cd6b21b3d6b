import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asCallError, call, type CallError, send, withQuery } from "./call.ts";

/** What a page shows of one read: nothing yet, an error, or data (and the error of a later try beside it). */
export interface Query<Data> {
  data: Data | undefined;
  error: CallError | undefined;
  reload: () => void;
}

/** Reads a path, again every so often while the page can be seen; `undefined` reads nothing. */
export function useQuery<Data>(path: string | undefined, { every }: { every?: number | undefined } = {}): Query<Data> {
  return useRead(path, readJson<Data>, every);
}

/** Reads what a path answers as the text that it is, byte for byte. */
export function useText(path: string | undefined): Query<string> {
  return useRead(path, readText, undefined);
}

function readJson<Data>(path: string): Promise<Data> {
  return call<Data>("GET", path);
}

async function readText(path: string): Promise<string> {
  return await (await send("GET", path)).text();
}

function useRead<Data>(
  path: string | undefined,
  ask: (path: string) => Promise<Data>,
  every: number | undefined,
): Query<Data> {
  const [state, setState] = useState<{ path?: string; data?: Data; error?: CallError }>({});
  const latest = useRef(0);
  const isReading = useRef(false);
  const read = useCallback(async () => {
    if (path === undefined) return;
    const mine = ++latest.current;
    isReading.current = true;
    try {
      const data = await ask(path);
      if (mine === latest.current) setState({ path, data });
    } catch (error) {
      if (mine === latest.current) {
        setState((before) => ({ ...(before.path === path ? before : {}), path, error: asCallError(error) }));
      }
    } finally {
      if (mine === latest.current) isReading.current = false;
    }
  }, [path, ask]);
  // Before the first paint: what is read is what the person waits for.
  useLayoutEffect(() => {
    void read();
    if (every === undefined) return undefined;
    const readAgain = () => {
      // A reply that takes longer than the pause is waited for: a newer read would make it count for nothing.
      if (document.visibilityState === "visible" && !isReading.current) void read();
    };
    const timer = setInterval(readAgain, every);
    document.addEventListener("visibilitychange", readAgain);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", readAgain);
    };
  }, [read, every]);
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => void read(),
  };
}

interface ListReply<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** A list as far as it was read. */
export interface Pages<Item> {
  items: Item[] | undefined;
  error: CallError | undefined;
  hasMore: boolean;
  isLoading: boolean;
  loadMore: () => void;
  reload: () => void;
}

/** As a limit: for lists that are always answered whole. */
export const WHOLE = 0;

/** What was read of a list before: what the newest page no longer holds is shown behind it. */
interface Seen<Item> {
  first: string;
  items: Map<string, Item>;
  /** Behind the deepest page; undefined where only the newest was read. */
  cursor: string | null | undefined;
}

/** Reads a list page by page, newest first; a changed path starts anew. */
export function usePages<Item extends { id: string }>(
  path: string,
  query: Record<string, string | undefined> = {},
  { limit = 50, every }: { limit?: number; every?: number } = {},
): Pages<Item> {
  const first = withQuery(path, { ...query, limit: limit === WHOLE ? undefined : limit });
  const newest = useQuery<ListReply<Item>>(first, { every });
  const kept = useRef<Seen<Item>>(nothingSeen(first));
  const [more, setMore] = useState<{ of?: Seen<Item>; isLoading: boolean; error?: CallError }>({ isLoading: false });
  if (kept.current.first !== first) kept.current = nothingSeen(first);
  if (newest.data !== undefined) kept.current = merge(kept.current, newest.data);
  const seen = kept.current;
  const { isLoading, error } = more.of === seen ? more : { isLoading: false };
  const cursor = seen.cursor === undefined ? newest.data?.next_cursor : seen.cursor;

  const loadMore = () => {
    if (isLoading || cursor === null || cursor === undefined) return;
    setMore({ of: seen, isLoading: true });
    call<ListReply<Item>>("GET", withQuery(path, { ...query, limit, cursor })).then(
      (page) => {
        // A page of what was begun anew meanwhile would leave a hole behind the newest one.
        if (kept.current !== seen) return;
        for (const item of page.data) seen.items.set(item.id, item);
        seen.cursor = page.next_cursor;
        setMore({ of: seen, isLoading: false });
      },
      (problem: unknown) => setMore({ of: seen, isLoading: false, error: asCallError(problem) }),
    );
  };
  return {
    items: newest.data && [...seen.items.values()],
    error: newest.error ?? error,
    hasMore: cursor !== null && cursor !== undefined,
    isLoading,
    loadMore,
    reload: newest.reload,
  };
}

function nothingSeen<Item>(first: string): Seen<Item> {
  return { first, items: new Map(), cursor: undefined };
}

/** The newest page, and behind it what was seen before; where the two do not meet, the list begins anew. */
function merge<Item extends { id: string }>(before: Seen<Item>, { data, has_more }: ListReply<Item>): Seen<Item> {
  const meets = before.items.size === 0 || data.some(({ id }) => before.items.has(id));
  const seen = has_more && meets ? before : nothingSeen<Item>(before.first);
  const last = data.at(-1)?.id ?? "";
  const older = [...seen.items.values()].filter(({ id }) => id < last).sort((a, b) => (a.id < b.id ? 1 : -1));
  seen.items = new Map([...data, ...older].map((item) => [item.id, item]));
  return seen;
}

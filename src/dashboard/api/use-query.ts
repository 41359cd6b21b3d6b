import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asCallError, call, type CallError, withQuery } from "./call.ts";

/** What a page shows of one read: nothing yet, an error, or data (and the error of a later try beside it). */
export interface Query<Data> {
  data: Data | undefined;
  error: CallError | undefined;
  reload: () => void;
}

/** Reads a path, again every so often while the page can be seen; `undefined` reads nothing. */
export function useQuery<Data>(path: string | undefined, { every }: { every?: number | undefined } = {}): Query<Data> {
  const [state, setState] = useState<{ path?: string; data?: Data; error?: CallError }>({});
  const latest = useRef(0);
  const read = useCallback(async () => {
    if (path === undefined) return;
    const mine = ++latest.current;
    try {
      const data = await call<Data>("GET", path);
      if (mine === latest.current) setState({ path, data });
    } catch (error) {
      if (mine === latest.current) {
        setState((before) => ({ ...(before.path === path ? before : {}), path, error: asCallError(error) }));
      }
    }
  }, [path]);
  // Before the first paint: what is read is what the person waits for.
  useLayoutEffect(() => {
    void read();
    if (every === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void read();
    }, every);
    return () => clearInterval(timer);
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
  const kept = useRef<Seen<Item>>({ first, items: new Map(), cursor: undefined });
  const [more, setMore] = useState<{ isLoading: boolean; error?: CallError }>({ isLoading: false });
  if (kept.current.first !== first) kept.current = { first, items: new Map(), cursor: undefined };
  const seen = kept.current;
  const items = newest.data && merge(seen, newest.data);
  const cursor = seen.cursor === undefined ? newest.data?.next_cursor : seen.cursor;

  const loadMore = () => {
    if (more.isLoading || cursor === null || cursor === undefined) return;
    setMore({ isLoading: true });
    call<ListReply<Item>>("GET", withQuery(path, { ...query, limit, cursor })).then(
      (page) => {
        for (const item of page.data) seen.items.set(item.id, item);
        seen.cursor = page.next_cursor;
        setMore({ isLoading: false });
      },
      (error: unknown) => setMore({ isLoading: false, error: asCallError(error) }),
    );
  };
  return {
    items,
    error: newest.error ?? more.error,
    hasMore: cursor !== null && cursor !== undefined,
    isLoading: more.isLoading,
    loadMore,
    reload: newest.reload,
  };
}

/** The newest page, and behind it what was seen before; where the two do not meet, what lies between is not known. */
function merge<Item extends { id: string }>(seen: Seen<Item>, { data, has_more }: ListReply<Item>): Item[] {
  const meets = seen.items.size === 0 || data.some(({ id }) => seen.items.has(id));
  if (!has_more || !meets) {
    seen.items.clear();
    seen.cursor = undefined;
  }
  const last = data.at(-1)?.id ?? "";
  const older = [...seen.items.values()].filter(({ id }) => id < last).sort((a, b) => (a.id < b.id ? 1 : -1));
  seen.items = new Map([...data, ...older].map((item) => [item.id, item]));
  return [...seen.items.values()];
}

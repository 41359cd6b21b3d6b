import { useEffect } from "preact/hooks";
import type { Environment } from "../../contract/environments.ts";
import type { ChainApi } from "../../explain/chain.ts";
import { environmentNow } from "../clock.ts";
import { localTime } from "../format.ts";
import { environment } from "../router.tsx";
import { asCallError, call, CallError } from "./call.ts";
import type { Explanation } from "./explain.ts";
import { follow } from "./live.ts";
import { dropOldest, useRedraw } from "./store.ts";

interface Entry {
  explanation: Explanation | undefined;
  error: CallError | undefined;
  readAt: number;
  /** What the page shows of the object. If that changes, the explanation is outdated. */
  stamp: string;
}

/** While something changes, an explanation is read at most this often. */
const PAUSE_MILLISECONDS = 2000;
const MAX_ENTRIES = 50;

const entries = new Map<string, Entry>();
environment.subscribe(() => entries.clear());

function apiIn(of: Environment): ChainApi {
  return {
    get: (path) => call(of, "GET", path),
    problemOf: (error) => (error instanceof CallError ? error : undefined),
  };
}

/** Returns the ID of the newest failed delivery, as `service why` finds it; undefined if none failed. */
export async function findNewestFailure(): Promise<string | undefined> {
  const { newestFailure } = await import("./explain.ts");
  const { newest, dead } = await newestFailure(apiIn(environment.value));
  return newest?.id ?? dead;
}

/** Reads the explanations that are shown. */
const readers = new Set<() => Promise<void>>();

/** Explains what is shown once more. Resolves when that is done. */
export async function explainAgain(): Promise<void> {
  await Promise.all([...readers].map((read) => read()));
}

/**
 * Explains an ID as `service why` does, and again after changes; undefined explains nothing. `stamp` is the state of the
 * object that the page shows: with another one, the explanation is unknown until it is read again.
 */
export function useExplanation(
  id: string | undefined,
  stamp = "",
): Pick<Entry, "explanation" | "error"> & { again: () => void } {
  const draw = useRedraw();
  const { value: of } = environment;
  const key = `${of} ${id}`;
  const entry = entries.get(key) ?? { explanation: undefined, error: undefined, readAt: -Infinity, stamp };
  entries.delete(key);
  entries.set(key, entry);
  dropOldest(entries, MAX_ENTRIES);
  const read = async () => {
    if (id === undefined) return;
    const readAt = Date.now();
    entry.readAt = readAt;
    try {
      // The engine is loaded with the first explanation.
      const { explain } = await import("./explain.ts");
      const explanation = await explain(apiIn(of), id, (at) => localTime(at, environmentNow()));
      // A later read may have been faster.
      if (entry.readAt !== readAt) return;
      Object.assign(entry, { explanation, error: undefined, stamp });
    } catch (error) {
      if (entry.readAt === readAt) entry.error = asCallError(error);
    }
    draw();
  };
  useEffect(() => {
    void read();
    readers.add(read);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readSoon = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          void read();
        },
        Math.max(0, entry.readAt + PAUSE_MILLISECONDS - Date.now()),
      );
    };
    const stop = follow({
      connected: () => entry.error !== undefined && readSoon(),
      changed: (topic) => topic !== "requests" && readSoon(),
      event: readSoon,
      missed: readSoon,
    });
    return () => {
      stop();
      readers.delete(read);
      clearTimeout(timer);
    };
  }, [key, stamp]);
  const isCurrent = entry.stamp === stamp || entry.explanation === undefined;
  return {
    explanation: isCurrent ? entry.explanation : undefined,
    error: entry.error,
    again: () => void read(),
  };
}

import { useEffect, useReducer } from "preact/hooks";
import { environmentNow } from "../clock.ts";
import { localTime } from "../format.ts";
import { environment } from "../router.tsx";
import { asCallError, call, CallError } from "./call.ts";
import type { Explanation } from "./explain.ts";
import { follow } from "./live.ts";

interface Entry {
  explanation: Explanation | undefined;
  error: CallError | undefined;
  readAt: number;
}

/** While something changes, an explanation is read at most this often. */
const PAUSE_MILLISECONDS = 2000;
const MAX_ENTRIES = 50;

const entries = new Map<string, Entry>();
environment.subscribe(() => entries.clear());

/** Explains an ID as `service why` does, and again after changes; undefined explains nothing. */
export function useExplanation(id: string | undefined): Entry & { again: () => void } {
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const { value: of } = environment;
  const key = `${of} ${id}`;
  const entry = entries.get(key) ?? { explanation: undefined, error: undefined, readAt: -Infinity };
  entries.delete(key);
  entries.set(key, entry);
  for (const old of entries.keys()) {
    if (entries.size <= MAX_ENTRIES) break;
    entries.delete(old);
  }
  const read = async () => {
    if (id === undefined) return;
    entry.readAt = Date.now();
    try {
      // The engine is loaded with the first explanation.
      const { explain } = await import("./explain.ts");
      const get = (path: string) => call(of, "GET", path);
      const problemOf = (error: unknown) => (error instanceof CallError ? error : undefined);
      entry.explanation = await explain({ get, problemOf }, id, (at) => localTime(at, environmentNow()));
      entry.error = undefined;
    } catch (error) {
      entry.error = asCallError(error);
    }
    draw(undefined);
  };
  useEffect(() => {
    void read();
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
      changed: (topic) => topic !== "requests" && readSoon(),
      event: readSoon,
      missed: readSoon,
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [key]);
  return { ...entry, again: () => void read() };
}

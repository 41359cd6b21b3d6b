import { signal } from "@preact/signals";
import { EVENT_STREAM_PATH } from "../../contract/listen.ts";
import type { Environment } from "../../contract/environments.ts";
import type { Event } from "../../contract/schemas/event.ts";
import { CallError, send, withQuery } from "./call.ts";

export const liveState = signal<"connecting" | "live" | "reconnecting" | "paused">("connecting");

/** Changes that the platform reports without an event. */
export type Topic = "deliveries" | "clock" | "requests" | "listeners";

interface Follower {
  event?(event: Event, isReplay: boolean): void;
  changed?(topic: Topic): void;
  /** The stream is open, for the first time or again. */
  connected?(): void;
  /** Earlier reads may be outdated; after a gap, some events never arrive. */
  missed?(reason: string): void;
}
const followers = new Set<Follower>();

/** Calls back with everything that the stream reports from now on. Returns a function to stop. */
export function follow(follower: Follower): () => void {
  followers.add(follower);
  return () => {
    followers.delete(follower);
  };
}

/** The platform writes every second. A stream that is silent for this long is dead. */
const SILENCE_MILLISECONDS = 10_000;
const RETRY_MILLISECONDS = [250, 1000, 2000, 5000];

/**
 * Keeps one stream of an environment open while the page is visible, and resumes it after the last event. Returns a
 * function to stop.
 */
export function startLive(of: Environment): () => void {
  let stopped = false;
  let after: string | undefined;
  let controller = new AbortController();
  const stamps = new Map<string, string>();

  const track = <Result>(result: Promise<Result>): Promise<Result> => {
    const silence = setTimeout(() => controller.abort(), SILENCE_MILLISECONDS);
    return result.finally(() => clearTimeout(silence));
  };

  const take = (message: string) => {
    const { name, id, data } = fieldsOf(message);
    if (data === undefined) return;
    if (name === undefined) {
      const event = JSON.parse(data) as Event;
      for (const follower of followers) follower.event?.(event, event.id !== id);
    } else if (name === "changed") {
      for (const [topic, stamp] of Object.entries(JSON.parse(data) as Record<Topic, string>)) {
        const before = stamps.get(topic);
        stamps.set(topic, stamp);
        if (before !== undefined && before !== stamp) {
          for (const follower of followers) follower.changed?.(topic as Topic);
        }
      }
    } else if (name === "gap" || name === "reset" || after === undefined) {
      // Changes between a page's reads and the start of its stream are in neither.
      const { reason = name } = JSON.parse(data) as { reason?: string };
      for (const follower of followers) follower.missed?.(reason);
    }
    after = id ?? after;
  };

  const read = async () => {
    const path = withQuery(EVENT_STREAM_PATH, { after });
    const response = await track(send(of, "GET", path, undefined, controller.signal));
    liveState.value = "live";
    for (const follower of followers) follower.connected?.();
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await track(reader.read());
      if (done) return;
      const messages = (rest + value).split("\n\n");
      rest = messages.pop()!;
      for (const message of messages) take(message);
    }
  };

  const keepReading = async () => {
    for (let failures = 0; !stopped;) {
      if (document.visibilityState === "hidden") {
        liveState.value = "paused";
        await visible();
        continue;
      }
      controller = new AbortController();
      try {
        await read();
        failures = 0;
      } catch (error) {
        if (error instanceof CallError && error.status === 401) return;
        failures += 1;
      }
      if (stopped) return;
      liveState.value = "reconnecting";
      const pause = RETRY_MILLISECONDS[Math.min(failures, RETRY_MILLISECONDS.length - 1)]!;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };

  const onVisibility = () => {
    if (document.visibilityState === "hidden") controller.abort();
  };
  document.addEventListener("visibilitychange", onVisibility);
  void keepReading();
  return () => {
    stopped = true;
    document.removeEventListener("visibilitychange", onVisibility);
    controller.abort();
  };
}

/** Returns the fields of one message; comments have none. */
function fieldsOf(message: string): { name?: string | undefined; id?: string | undefined; data?: string | undefined } {
  const fields = new Map<string, string>();
  for (const line of message.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  return { name: fields.get("event"), id: fields.get("id"), data: fields.get("data") };
}

function visible(): Promise<void> {
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", () => resolve(), { once: true });
  });
}

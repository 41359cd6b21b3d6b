import { signal } from "@preact/signals";
import type { Event } from "../../contract/schemas/event.ts";
import { EVENT_STREAM_PATH } from "../../contract/listen.ts";
import { say } from "../components/toasts.tsx";
import { CallError, send, withQuery } from "./call.ts";

export const liveState = signal<"connecting" | "live" | "paused">("connecting");

interface Follower {
  event(event: Event, isReplay: boolean): void;
  /** What was read before may lack events that will not come. */
  missed(): void;
}
const followers = new Set<Follower>();

/** Calls back with every event from now on; the returned function ends it. */
export function followEvents(follower: Follower): () => void {
  followers.add(follower);
  return () => {
    followers.delete(follower);
  };
}

/** The platform says every second that it is there; a stream without a word for so long leads nowhere any more. */
const SILENCE_MILLISECONDS = 10_000;
const RETRY_MILLISECONDS = [250, 1000, 2000, 5000];

/** Keeps one stream open while the page can be seen; what was missed meanwhile comes first. Returns how to end it. */
export function startLive(): () => void {
  let stopped = false;
  let after: string | undefined;
  let controller = new AbortController();

  const hear = <Said>(said: Promise<Said>): Promise<Said> => {
    const silence = setTimeout(() => controller.abort(), SILENCE_MILLISECONDS);
    return said.finally(() => clearTimeout(silence));
  };

  const read = async () => {
    const path = withQuery(EVENT_STREAM_PATH, { after });
    const response = await hear(send("GET", path, undefined, controller.signal));
    liveState.value = "live";
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await hear(reader.read());
      if (done) return;
      const messages = (rest + value).split("\n\n");
      rest = messages.pop()!;
      for (const message of messages) after = take(message, after) ?? after;
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
      liveState.value = "connecting";
      await pause(RETRY_MILLISECONDS[Math.min(failures, RETRY_MILLISECONDS.length - 1)]!);
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

/** Reads one message of the stream; returns the ID to go on from. */
function take(message: string, after: string | undefined): string | undefined {
  const fields = new Map<string, string>();
  for (const line of message.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const data = fields.get("data");
  const name = fields.get("event");
  const id = fields.get("id");
  if (data === undefined) return undefined;
  if (name === undefined) {
    const event = JSON.parse(data) as Event;
    for (const follower of followers) follower.event(event, event.id !== id);
  } else if (name === "gap") {
    say("Events may be missing here: the platform does not have them any more.", false);
    for (const follower of followers) follower.missed();
  } else if (after === undefined) {
    // What was committed between a page's list and the start of its stream is in neither.
    for (const follower of followers) follower.missed();
  }
  return id;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

function visible(): Promise<void> {
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", () => resolve(), { once: true });
  });
}

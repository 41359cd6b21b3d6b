import { vi } from "vitest";
import { WebSocket } from "ws";
import {
  LISTEN_DEVICE_HEADER,
  LISTEN_PATH,
  LISTEN_SUBPROTOCOL,
  type PlatformFrame,
  type SentEvent,
} from "../../../../src/contract/listen.ts";

/** A WebSocket client of the listen protocol. */
export interface ListenSocket {
  frames: PlatformFrame[];
  events: SentEvent[];
  /** Resolves after this many events. */
  until(count: number): Promise<void>;
  /** Says where it forwards all events. */
  forwardTo(url: string): void;
  ack(seq: number, status?: number): void;
  /** Reports a failed attempt that will be retried. */
  retry(seq: number): void;
  close(): Promise<void>;
}

/** Connects, and resolves once the `ready` frame has arrived. */
export async function listenTo(baseUrl: string, key: string, query = "", device = "unnamed"): Promise<ListenSocket> {
  const url = `${baseUrl.replace("http", "ws")}${LISTEN_PATH}${query}`;
  const socket = new WebSocket(url, LISTEN_SUBPROTOCOL, {
    headers: { Authorization: `Bearer ${key}`, [LISTEN_DEVICE_HEADER]: device },
  });
  const frames: PlatformFrame[] = [];
  const events: SentEvent[] = [];
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString("utf8")) as PlatformFrame;
    frames.push(frame);
    if (frame.frame === "events") events.push(...frame.events);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("message", () => resolve());
    socket.once("error", reject);
  });
  return {
    frames,
    events,
    until: (count) =>
      vi.waitFor(
        () => {
          if (events.length < count) throw new Error(`${events.length} of ${count} events came`);
        },
        { timeout: 60_000, interval: 5 },
      ),
    forwardTo: (url) => socket.send(JSON.stringify({ frame: "targets", targets: [{ events: "*", url }] })),
    ack: (seq, status = 200) =>
      socket.send(JSON.stringify({ frame: "acks", acks: [{ seq, status_code: status, duration_ms: 1 }] })),
    retry: (seq) => {
      const retries = [{ seq, status_code: 500, duration_ms: 1, retry_in_ms: 1000, response_excerpt: "no table" }];
      socket.send(JSON.stringify({ frame: "retries", retries }));
    },
    close: () =>
      new Promise((resolve) => {
        socket.once("close", () => resolve());
        socket.close();
      }),
  };
}

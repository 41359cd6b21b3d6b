import { expect, vi } from "vitest";
import { EVENT_STREAM_PATH } from "../../../../src/contract/listen.ts";

export interface StreamMessage {
  /** Undefined for the default type. */
  event: string | undefined;
  id: string | undefined;
  data: string;
}

/** A client of server-sent events. */
export interface FollowedStream {
  /** The received messages, `ready` first. */
  messages: StreamMessage[];
  /** Resolves after this many messages. */
  until(count: number): Promise<void>;
  /** Resolves when the platform ends the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens a stream, and resolves once the platform has sent its start position. */
export async function followStream(
  baseUrl: string,
  key: string,
  { lastEventId, ...query }: { after?: string; type?: string; lastEventId?: string } = {},
): Promise<FollowedStream> {
  const controller = new AbortController();
  const response = await fetch(`${baseUrl}${EVENT_STREAM_PATH}?${new URLSearchParams(query).toString()}`, {
    headers: { Authorization: `Bearer ${key}`, ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }) },
    signal: controller.signal,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const messages: StreamMessage[] = [];
  const read = async () => {
    let rest = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const fields = new Map(part.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
        const data = fields.get("data");
        if (data !== undefined) messages.push({ event: fields.get("event"), id: fields.get("id"), data });
      }
    }
  };
  const ended = read();
  ended.catch(() => {});
  const until = (count: number) => vi.waitFor(() => expect(messages.length).toBeGreaterThanOrEqual(count), 60_000);
  await until(1);
  return { messages, until, ended, close: () => controller.abort() };
}

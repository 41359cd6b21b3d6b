import { Buffer } from "node:buffer";
import type { Payload } from "../payload.ts";
import { SignatureError } from "../signature-error.ts";

/** The part of a Fetch `Request`'s body that is used here. */
export interface FetchBody {
  readonly bodyUsed: boolean;
  readonly body: {
    readonly locked: boolean;
    getReader(): FetchBodyReader;
  } | null;
}

interface FetchBodyReader {
  read(): Promise<{ done: boolean; value?: unknown }>;
}

/** Reads the raw body, of which no more than `limit` bytes are held. Rejects like the reader of Node streams. */
export async function readFetchBody(request: FetchBody, limit: number): Promise<Payload> {
  if (request.bodyUsed || request.body?.locked === true) {
    throw new SignatureError(
      "body_already_parsed",
      "something has read the body before, and a signature covers the raw bytes: verify before request.json() or " +
        "text(), or give this a request.clone() that was made before",
    );
  }
  if (request.body === null) return Buffer.alloc(0);
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await nextChunk(reader);
    if (chunk === undefined) break;
    size += chunk.byteLength;
    if (size > limit) {
      // Left unread, not cancelled: cancelling drops the connection on some servers, and the answer with it.
      throw new SignatureError("body_too_large", `the body is larger than the limit of ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size);
}

async function nextChunk(reader: FetchBodyReader): Promise<Uint8Array | undefined> {
  try {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (value instanceof Uint8Array) return value;
  } catch (cause) {
    throw new SignatureError("body_incomplete", "the body's stream failed before it was complete", { cause });
  }
  throw new SignatureError("payload_not_raw", "the body's stream yields something other than bytes");
}

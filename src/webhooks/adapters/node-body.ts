import { Buffer } from "node:buffer";
import type { Payload } from "../payload.ts";
import { SignatureError } from "../signature-error.ts";

/** The part of a Node readable stream that is used here. */
export interface NodeBodyStream {
  readonly readableDidRead: boolean;
  readonly readableEnded: boolean;
  readonly readableEncoding?: string | null;
  readonly destroyed: boolean;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  destroy(): unknown;
}

/** Where body parsers put what they read. */
export interface ParsedBody {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** After a refusal this much more is read and dropped, so that the sender gets to the end and sees the answer. */
const DISCARDED_BYTES = 16_777_216;

/**
 * The raw body: what a parser kept of it as bytes or text, else the stream, of which no more than `limit` bytes are held.
 * Rejects with SignatureError: `body_already_parsed`, `body_too_large`, `body_incomplete`.
 */
export async function readNodeBody(stream: NodeBodyStream, parsed: ParsedBody, limit: number): Promise<Payload> {
  const decoded = typeof stream.readableEncoding === "string";
  if (stream.readableDidRead || stream.readableEnded || decoded) return keptBody(parsed);
  if (stream.destroyed) throw incomplete();
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    stream.on("data", (chunk) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      reject(new SignatureError("body_too_large", `the body is larger than the limit of ${limit} bytes`));
      if (size > limit + DISCARDED_BYTES) stream.destroy();
    });
    stream.on("end", () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)),
    );
    stream.on("error", (cause) => reject(incomplete(cause)));
    stream.on("close", () => reject(incomplete()));
  });
}

function keptBody({ rawBody, body }: ParsedBody): Payload {
  for (const kept of [rawBody, body]) {
    if (typeof kept === "string" || ArrayBuffer.isView(kept)) return kept as Payload;
  }
  throw new SignatureError(
    "body_already_parsed",
    "something has read the body before, and a signature covers the raw bytes: register this route before the body " +
      "parser (express.json() and the like), or let the parser keep the bytes in `request.rawBody` " +
      "(express.json({ verify: (request, response, bytes) => { request.rawBody = bytes } }))",
  );
}

function incomplete(cause?: Error): SignatureError {
  return new SignatureError("body_incomplete", "the connection ended before the body was complete", { cause });
}

import type { EventObjects } from "./event-objects.ts";
import { SignatureError } from "./signature-error.ts";

/** Every event type of the platform at the time of this release, such as `order.completed`. */
export type WebhookEventType = keyof EventObjects;

/**
 * The event of a delivery: a union that `type` discriminates, so that `event.type === "order.completed"` narrows
 * `event.data.object` to an order. `WebhookEvent<"order.completed">` is the event of one type. Later releases of the
 * platform may send types that the union lacks: these parse too, so respond 2xx to them.
 */
export type WebhookEvent<Type extends WebhookEventType = WebhookEventType> = {
  [Name in Type]: EventEnvelope<Name, EventObjects[Name]>;
}[Type];

/** What events of all types have in common. */
export interface EventEnvelope<Type extends string, DataObject extends object> {
  /** Prefix `evt_`. Deliveries are at least once: store it under a unique constraint before acting on the event. */
  id: string;
  object: "event";
  type: Type;
  /** UTC, `YYYY-MM-DDTHH:MM:SSZ`. */
  created: string;
  /** False in the sandbox. */
  livemode: boolean;
  data: {
    /** The resource at the time of the event. */
    object: DataObject;
    /** On `*.updated`: the old values of the fields that changed. */
    previous?: Partial<DataObject>;
  };
  /** The API request that caused the event, prefix `req_`; null if none did. */
  request: { id: string | null };
}

/** Returns the event of a verified payload. Throws SignatureError: `payload_not_json`, `payload_not_event`. */
export function parseEvent(payload: string | Uint8Array): WebhookEvent {
  let value: unknown;
  try {
    value = JSON.parse(typeof payload === "string" ? withoutByteOrderMark(payload) : decodeUtf8(payload));
  } catch (cause) {
    throw new SignatureError(
      "payload_not_json",
      payload.length === 0
        ? "the signature is valid, but the payload is empty: pass the raw request body"
        : "the signature is valid, but the payload is not JSON in UTF-8: use verifySignature if it need not be",
      { cause },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SignatureError(
      "payload_not_event",
      "the signature is valid, but the payload is not a JSON object, so not an event: is the secret used elsewhere?",
    );
  }
  return value as WebhookEvent;
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Decodes without a byte order mark. Throws if the bytes are not UTF-8: replacing them would change what was signed. */
function decodeUtf8(bytes: Uint8Array): string {
  decoder ??= new TextDecoder();
  const text = decoder.decode(bytes);
  // Node takes twice as long with `fatal`, so only text with a replacement character is decoded that way, to tell whether
  // the sender wrote it.
  return text.includes("\uFFFD") ? new TextDecoder("utf-8", { fatal: true }).decode(bytes) : text;
}

/** Created at the first use: importing the library must work without it, as in jsdom. */
let decoder: InstanceType<typeof TextDecoder> | undefined;

/**
 * The envelope of a delivery (platform specification 6). Store `id` before acting on it: deliveries are at-least-once.
 * `DataObject` is the resource's type where the caller knows it from `type`.
 */
export interface WebhookEvent<DataObject extends object = Record<string, unknown>> {
  /** Prefix `evt_`; the dedupe key. */
  id: string;
  object: "event";
  /** For example `order.completed`. Types may be added: answer unknown ones with 2xx. */
  type: string;
  /** UTC, `YYYY-MM-DDTHH:MM:SSZ`. */
  created: string;
  livemode: boolean;
  data: {
    /** The resource as it was when the event was created. */
    object: DataObject;
    /** On `*.updated`: the old values of the fields that changed. */
    previous?: Partial<DataObject>;
  };
  /** The request that caused the event, prefix `req_`; null where none did. */
  request: { id: string | null };
}

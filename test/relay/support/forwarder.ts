import { onTestFinished } from "vitest";
import type { ForwardResult } from "../../../src/relay/forwarder.ts";
import { type Envelope, Forwarder, type ForwarderOptions } from "../../../src/relay/forwarder.ts";
import { systemClock } from "../../../src/network/clock.ts";

/** The fields of a forward. */
interface Sent extends Envelope {
  body: Uint8Array;
}

export const EVENT: Sent = { id: "evt_1", body: Buffer.from('{"id":"evt_1"}'), signature: "t=1,v1=0", attempt: 1 };

/** Creates a forwarder that is closed when the test ends. */
export function openForwarder(options: Omit<ForwarderOptions, "clock"> & Partial<ForwarderOptions>): Forwarder {
  const forwarder = new Forwarder({ clock: systemClock, ...options });
  onTestFinished(() => forwarder.close());
  return forwarder;
}

/** Forwards one event with these overrides. */
export function send(forwarder: Forwarder, changes: Partial<Sent> = {}): Promise<ForwardResult> {
  const { body, ...envelope } = { ...EVENT, ...changes };
  return new Promise((resolve) => forwarder.forward({ headers: forwarder.headersOf(envelope), body }, resolve));
}

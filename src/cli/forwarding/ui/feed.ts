import type { Waiting } from "../../../contract/listen.ts";
import type { RelayedEvent } from "../../../relay/delivery.ts";
import type { Example } from "../example.ts";
import type { Receivers } from "../options.ts";
import type { Row } from "./history.ts";

/** Where the events of the screen come from, and what its keys do with them: a session, or a capture. */
export interface Feed {
  /** The state that is shown while nothing is wrong: `Connected`. */
  readonly state: string;
  readonly origin: string;
  /** The origin for a narrow terminal. */
  readonly shortOrigin: string;
  readonly receivers: Receivers;
  /** What its user needs to know about it, each item with its label. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** A command that creates an event. */
  readonly example: Example;
  /** Returns text in which commands begin with the words that start this program. */
  readonly runnable: (text: string) => string;
  /** Number of events that the session's own filters excluded. */
  readonly filteredOut: () => number;
  /** Where events are after they have left the list: a sentence. */
  readonly archive: string;
  /** The platform whose events these are. Those of other senders have no dashboard and no fixtures. */
  readonly platform: URL | undefined;
  /** False if there is no secret to sign with, so that the original signature is sent again. */
  readonly signs: boolean;
  pause(): void;
  resume(): void;
  /** Lets events wait until their receiver is there, until it is called without. */
  awaitReceiver?(awaited: Waiting | undefined): void;
  /**
   * Sends an event again. Returns the number in its report; undefined if no receiver is configured for it. Throws
   * UserError if it cannot be signed.
   */
  resend(event: Row["event"], attempt: number): number | undefined;
  /** Returns true for an event that is resent as it was received, although there is a secret. */
  keepsSignature(event: Row["event"]): boolean;
  /** Throws UserError if another body of the event could not be sent. */
  assertEditable(event: RelayedEvent): void;
  edited(event: RelayedEvent, body: string): RelayedEvent;
  /** Returns the headers of an earlier request with a fresh signature, a flat list of names and values. */
  sign(event: Row["event"], headers: readonly string[]): readonly string[];
}

/** These keys work on events of the platform. */
const PLATFORM_KEYS: ReadonlySet<string> = new Set(["t", "o", "w"]);

/** Returns true if a key makes sense for events of this feed. */
export function offers({ platform }: Feed, key: string): boolean {
  return platform !== undefined || !PLATFORM_KEYS.has(key);
}

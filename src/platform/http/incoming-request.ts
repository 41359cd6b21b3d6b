import { IncomingMessage } from "node:http";

const OFFERED = Symbol("offered");

/**
 * A request of which only the wish for a WebSocket counts as an upgrade. Node hands every upgrade to the one listener
 * there is; an offer of HTTP/2 (`curl --http2`, Java's client) is passed over instead, as RFC 9110 7.8 allows.
 */
export class IncomingRequest extends IncomingMessage {
  declare [OFFERED]: boolean | null;

  // Node's parser sets it once the headers are there, and reads it back to decide.
  set upgrade(offered: boolean | null) {
    this[OFFERED] = offered;
  }

  get upgrade(): boolean | null {
    if (this[OFFERED] !== true || this.method === "CONNECT") return this[OFFERED];
    return this.headers.upgrade?.toLowerCase() === "websocket";
  }
}

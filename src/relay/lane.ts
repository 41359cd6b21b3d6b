import type { Client } from "undici";
import type { Exchange } from "./exchange.ts";

/** One connection to the receiver, for one exchange at a time. */
export interface Lane {
  client: Client;
  /** What is under way on it. */
  exchange: Exchange | undefined;
  /** True while the open connection has already brought a reply. */
  used: boolean;
}

import type { Client } from "undici";

/** One connection to the receiver, for one exchange at a time. */
export interface Lane {
  client: Client;
  /** True while the open connection has already brought a reply. */
  used: boolean;
}

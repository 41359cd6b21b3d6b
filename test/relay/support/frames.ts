import type { ReadyFrame } from "../../../src/contract/listen.ts";

/** Returns the frame that starts a session. */
export const READY: ReadyFrame = {
  frame: "ready",
  session: "lsn_1",
  secret: "whsec_1",
  cursor: "evt_1",
  account: "acct_1",
  environment: "sandbox",
  subscriptions: ["*"],
  others: 0,
};

/** Returns the frame that ends a session. */
export function bye(code: string) {
  return { frame: "bye" as const, code, message: "later" };
}

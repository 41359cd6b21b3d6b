import type { ReadyFrame } from "../../../src/contract/listen.ts";

/** What a platform says of a session that it has begun. */
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

/** The frame by which a platform ends a session. */
export function bye(code: string) {
  return { frame: "bye" as const, code, message: "later" };
}

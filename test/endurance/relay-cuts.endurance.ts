import { it } from "vitest";
import { relayThroughCuts } from "../relay/support/cuts.ts";

it("loses nothing, forwards nothing twice and keeps the order of each object over 1,000 cuts and 10,000 events", async () => {
  await relayThroughCuts(1_000);
});

import { it } from "vitest";
import { relayThroughCuts } from "./support/cuts.ts";

it("loses nothing, forwards nothing twice and keeps the order of each object over 100 cuts and 1,000 events", async () => {
  await relayThroughCuts(100);
});

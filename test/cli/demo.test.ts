import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";

it("demo forgets its data at Ctrl-C, which a terminal sends to all of its processes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "service-demo-test-"));
  const demo = runInTerminal(["demo"], { env: { TMPDIR: folder } });
  await demo.waitFor("Ctrl-C ends the demo");
  expect(readdirSync(folder)).not.toEqual([]);
  demo.type(CTRL_C);
  expect(await demo.ended).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

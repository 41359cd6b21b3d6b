import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/try-install.js", import.meta.url));

it("the packed package runs the main workflow after an install without scripts", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--ignore-scripts"]);
  expect(stdout).toContain("installed, served, delivered, verified");
});

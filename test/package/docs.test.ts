import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/write-command-reference.js", import.meta.url));

it("docs/commands.md is what the program declares", () => {
  execFileSync(process.execPath, [script, "--check"], { stdio: "pipe" });
});

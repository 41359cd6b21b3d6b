import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { env } = process;

/** Everything that a test run puts into the temporary folder lies in one of its own, and goes with it. */
export function setup(): () => void {
  const root = mkdtempSync(join(tmpdir(), "service-test-"));
  env["TMPDIR"] = root;
  return () => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}

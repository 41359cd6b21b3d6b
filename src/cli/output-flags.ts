import type { Command } from "commander";
import type { GlobalOptions } from "./global-options.ts";
import { fieldsOf } from "./help-layout.ts";
import { assertFields } from "./terminal/view.ts";

/**
 * Throws UsageError for what `--fields` and `--jq` cannot mean, before the command begins: once it has changed something
 * it could not say any more that it was called wrongly.
 */
export async function checkOutputFlags(command: Command, { fields, jq }: GlobalOptions): Promise<void> {
  const known = fieldsOf(command);
  if (fields !== undefined && known !== undefined) assertFields(known, fields);
  if (jq === undefined) return;
  const { assertJq } = await import("./terminal/jq.ts");
  await assertJq(jq);
}

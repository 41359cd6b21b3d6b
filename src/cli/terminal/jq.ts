import { UsageError } from "../errors.ts";

/** Runs a jq expression over a value; strings come out raw, each result on its own line. */
export async function filterWithJq(value: unknown, expression: string): Promise<string> {
  const { raw } = await import("jq-wasm");
  try {
    return await raw(JSON.stringify(value), expression, ["-r", "-c"]);
  } catch (error) {
    const [reason = "it failed"] = (error as Error).message
      .replace(/^(Failed to execute raw query: )?(jq: )?(error: |error \(at [^)]*\): )?/, "")
      .split("\n");
    throw new UsageError(`--jq ${expression}: ${reason.replace(/(, line \d+)?:\s*$/, "")}`, { cause: error });
  }
}

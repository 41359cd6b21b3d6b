import { UsageError } from "../errors.ts";
import { ForwardHeaderError, parseHeader } from "../../relay/forward-headers.ts";

/** Parses the values of a flag `--header`, each `Name: value`. Throws UsageError. */
export function parseHeaders(lines: readonly string[]): [name: string, value: string][] {
  try {
    return lines.map(parseHeader);
  } catch (error) {
    if (error instanceof ForwardHeaderError) throw new UsageError(`--header: ${error.message}`, { cause: error });
    throw error;
  }
}

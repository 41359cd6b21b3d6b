import { ForwardHeaderError, parseHeader } from "../../relay/forward-headers.ts";
import { asUsage } from "../errors.ts";

/** Parses the values of a flag `--header`, each `Name: value`. Throws UsageError. */
export function parseHeaders(lines: readonly string[]): [name: string, value: string][] {
  return asUsage(() => lines.map(parseHeader), ForwardHeaderError, "--header");
}

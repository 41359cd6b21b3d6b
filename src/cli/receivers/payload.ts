import { isRecord, parseJson, valueAt } from "../../contract/json.ts";
import { rewriteJson } from "../../contract/rewrite-json.ts";
import { assign } from "../arguments/assignments.ts";
import { objectOfPairs, type Pair } from "../arguments/repeated.ts";
import { UsageError } from "../errors.ts";

/** Returns JSON with the values of `--set`. Throws UsageError if it has no place for one. */
export function withValues(bytes: Buffer, changes: readonly Pair[]): Buffer {
  if (changes.length === 0) return bytes;
  objectOfPairs(changes, "--set");
  const text = bytes.toString("utf8");
  const value = parseJson(text);
  if (!isRecord(value)) throw new UsageError("--set: the payload is not a JSON object");
  for (const [path] of changes) assertPath(value, path);
  const withChanges = (object: unknown): unknown =>
    changes.reduce((result, [path, given]) => assign(result, path, given), object as Record<string, unknown>);
  return Buffer.from(rewriteJson(text, withChanges));
}

function assertPath(value: unknown, path: string): void {
  if (valueAt(value, path) !== undefined) return;
  const parent = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : "";
  const inner = parent === "" ? value : valueAt(value, parent);
  const names = typeof inner === "object" && inner !== null ? Object.keys(inner) : [];
  const hint = `${parent === "" ? "The payload" : parent} has: ${names.slice(0, 20).join(", ")}`;
  throw new UsageError(`--set: the payload has no ${path}`, names.length === 0 ? {} : { hint });
}

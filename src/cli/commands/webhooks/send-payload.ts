import type { IdGenerator } from "../../../contract/ids.ts";
import { rewriteJson } from "../../../contract/rewrite-json.ts";
import { valueAt } from "../../../contract/value-at.ts";
import { isRecord } from "../../../contract/is-record.ts";
import { parseJson } from "../../../contract/parse-json.ts";
import { idIn, Template, TemplateError } from "../../../receiver-check/samples.ts";
import type { Scheme } from "../../../webhooks/schemes.ts";
import { assign } from "../../arguments/assignments.ts";
import { objectOfPairs, type Pair } from "../../arguments/repeated.ts";
import { UsageError } from "../../errors.ts";

/** A delivery's body, and the ID that it contains. */
interface Payload {
  bytes: Uint8Array;
  id: string | undefined;
}

interface PayloadOptions {
  scheme: Scheme;
  /** The values of `--set`. */
  changes: readonly Pair[];
  /** More than one delivery: each gets an ID of its own. */
  isRepeated: boolean;
  ids: IdGenerator;
}

/**
 * Returns a function that makes the payload of each delivery: the bytes as given, unless values of the JSON change. Its
 * argument is Unix milliseconds. Throws UsageError if they cannot.
 */
export function payloadsOf(
  given: Buffer,
  { scheme, changes, isRepeated, ids }: PayloadOptions,
): (at: number) => Payload {
  const bytes = changes.length === 0 ? given : changed(given, changes);
  const { path } = scheme.id ?? {};
  if (path === undefined) return () => ({ bytes, id: undefined });
  if (!isRepeated) return () => ({ bytes, id: idIn(bytes, scheme) });
  const template = templateOf(scheme, bytes, ids);
  return (at) => {
    const { id, body } = template.sample(at);
    return { id: template.hasId ? id : undefined, bytes: Buffer.from(body as Uint8Array) };
  };
}

function templateOf(scheme: Scheme, bytes: Buffer, ids: IdGenerator): Template {
  try {
    return new Template(scheme, bytes, ids);
  } catch (error) {
    if (error instanceof TemplateError) throw new UsageError(`--count: the payload ${error.message}`, { cause: error });
    throw error;
  }
}

function changed(bytes: Buffer, changes: readonly Pair[]): Buffer {
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

import { bodyOf, Template, TemplateError } from "../../../receiver-check/samples.ts";
import type { IdGenerator } from "../../../contract/ids.ts";
import type { Scheme } from "../../../webhooks/schemes.ts";
import { assign, lossyNumberIn } from "../../arguments/assignments.ts";
import { objectOfPairs, type Pair } from "../../arguments/repeated.ts";
import { UsageError } from "../../errors.ts";
import { textOf } from "../../terminal/view.ts";
import { valueAt } from "../../../contract/value-at.ts";

/** A delivery's body, and its ID if that is in the body. */
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
  now: () => number;
}

/**
 * Returns a function that makes the payload of each delivery: the bytes as given, unless values of the JSON change.
 * Throws UsageError if they cannot.
 */
export function payloadsOf(given: Buffer, { scheme, changes, isRepeated, ids, now }: PayloadOptions): () => Payload {
  const bytes = changes.length === 0 ? given : changed(given, changes);
  const { path } = scheme.id ?? {};
  if (path === undefined) return () => ({ bytes, id: undefined });
  const idIn = (content: Uint8Array): string | undefined =>
    textOf(valueAt(parsed(Buffer.from(content).toString("utf8")), path)) || undefined;
  if (!isRepeated) return () => ({ bytes, id: idIn(bytes) });
  const template = templateOf(scheme, bytes, ids);
  assertExact(bytes, "--count");
  return () => {
    const content = Buffer.from(bodyOf(template.sample(now())));
    return { bytes: content, id: idIn(content) };
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
  const value = parsed(bytes.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("--set: the payload is not a JSON object");
  }
  assertExact(bytes, "--set");
  for (const [path] of changes) assertPath(value, path);
  const result = changes.reduce((object, [path, text]) => assign(object, path, text), value as Record<string, unknown>);
  return Buffer.from(JSON.stringify(result));
}

/** Returns undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Throws UsageError for JSON that would change elsewhere too when it is written again. */
function assertExact(bytes: Buffer, flag: string): void {
  const lossy = lossyNumberIn(bytes.toString("utf8"));
  if (lossy === undefined) return;
  throw new UsageError(`${flag}: the payload has the number ${lossy}, which has more digits than can be kept`);
}

function assertPath(value: unknown, path: string): void {
  if (valueAt(value, path) !== undefined) return;
  const parent = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : "";
  const inner = parent === "" ? value : valueAt(value, parent);
  const names = typeof inner === "object" && inner !== null ? Object.keys(inner) : [];
  const hint = `${parent === "" ? "The payload" : parent} has: ${names.slice(0, 20).join(", ")}`;
  throw new UsageError(`--set: the payload has no ${path}`, names.length === 0 ? {} : { hint });
}

import { signal } from "@preact/signals";
import type { Environment } from "../../contract/environments.ts";
import type { FieldError, Problem } from "../../contract/schemas/problem.ts";
import { HEADERS } from "../../contract/headers.ts";
import { environment } from "../router.tsx";
import { newIdempotencyKey } from "./idempotency-key.ts";

/** True once the platform reports that the session has expired or was revoked. */
export const signedOut = signal(false);

/** Why a call failed, in words for the user. */
export class CallError extends Error {
  override name = "CallError";
  /** 0 if there was no response. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly fields: readonly FieldError[];
  /** The scope that the request lacked. */
  readonly requiredScope: unknown;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail ?? problem.title ?? `The platform returned ${status}.`);
    this.status = status;
    this.code = problem.code ?? "unknown";
    this.requestId = problem.request_id;
    this.fields = problem.errors ?? [];
    this.requiredScope = problem["required_scope"];
  }
}

/** Reads time out. A change has no timeout, because it may be long. */
const READ_MILLISECONDS = 30_000;

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** A change that is repeated this soon after it failed is the same one. Later, the user wants another. */
const REPEAT_MILLISECONDS = 300_000;

/** Idempotency keys of changes without a response yet, by environment, path and body. A repeated change reuses its key. */
const pendingKeys = new Map<string, { key: string; failedAt: number }>();

function keyOf(change: string): string {
  for (const [old, { failedAt }] of pendingKeys) {
    if (Date.now() - failedAt > REPEAT_MILLISECONDS) pendingKeys.delete(old);
  }
  const key = pendingKeys.get(change)?.key ?? newIdempotencyKey();
  pendingKeys.set(change, { key, failedAt: Infinity });
  return key;
}

function keepKey(change: string): void {
  const pending = pendingKeys.get(change);
  if (pending !== undefined) pending.failedAt = Date.now();
}

/** Aborts the reads of an environment, also later ones, once the other is shown. Changes are completed. */
const reads: Partial<Record<Environment, AbortController>> = {};
environment.subscribe((shown) => {
  for (const controller of Object.values(reads)) controller.abort();
  reads[shown] = new AbortController();
});

/** Calls the platform's public API as the signed-in user. `signal` ends a read; by default a timeout. Throws CallError. */
export async function send(
  of: Environment,
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = { [HEADERS.environment]: of };
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (text !== undefined) headers["Content-Type"] = "application/json";
  const change = `${of} ${path} ${text}`;
  if (method === "POST") headers[HEADERS.idempotencyKey] = keyOf(change);
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
      ...(method === "GET" ? { signal: readSignal(of, signal) } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    keepKey(change);
    throw new CallError(0, { detail: "The platform cannot be reached. Is it running?", code: "unavailable" });
  }
  const problem: Partial<Problem> = response.ok ? {} : await response.json().catch(() => ({}));
  // A 5xx may hide that the change was made, or still will be.
  if (response.status < 500 && problem.code !== "idempotency_in_flight") pendingKeys.delete(change);
  else keepKey(change);
  if (response.ok) return response;
  if (response.status === 401) {
    signedOut.value = true;
    throw new CallError(401, { ...problem, detail: "You were signed out, so this was not done: repeat it." });
  }
  throw new CallError(response.status, problem);
}

function readSignal(of: Environment, signal = AbortSignal.timeout(READ_MILLISECONDS)): AbortSignal {
  const { [of]: controller } = reads;
  return controller === undefined ? signal : AbortSignal.any([controller.signal, signal]);
}

/** Returns the JSON of a response. Throws CallError. */
export async function call<Response>(of: Environment, method: Method, path: string, body?: unknown): Promise<Response> {
  return (await (await send(of, method, path, body)).json()) as Response;
}

/** Returns `call` for the rendered environment. A task that continues after a switch stays in that environment. */
export function useCall(): <Response>(method: Method, path: string, body?: unknown) => Promise<Response> {
  const { value: of } = environment;
  return (method, path, body) => call(of, method, path, body);
}

/** Returns a path with its query; empty values are omitted. */
export function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Converts any thrown value to the error that is shown. */
export function asCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError(0, { detail: String(error) });
}

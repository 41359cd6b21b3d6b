import { isRecord, parseJson } from "./json.ts";

/** Returns what problem details (RFC 9457) say, in one sentence; undefined for any other text. */
export function problemDetail(body: string): string | undefined {
  const problem = body.trimStart().startsWith("{") ? parseJson(body) : undefined;
  if (!isRecord(problem)) return undefined;
  const { type, title, status, detail } = problem;
  if (typeof title !== "string" || (typeof type !== "string" && typeof status !== "number")) return undefined;
  return typeof detail === "string" && detail.trim() !== "" ? detail : title;
}

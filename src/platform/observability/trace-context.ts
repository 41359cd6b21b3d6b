const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-.*)?$/;
/** The flags that version 00 defines: sampled, and a random trace ID. */
const KNOWN_FLAGS = 0b11;

/**
 * Returns the trace of a `traceparent` header (W3C Trace Context): its ID in 32 hex digits, a dash, and its flags in two.
 * Returns null for an absent or an invalid header, which is ignored.
 */
export function parseTraceparent(header: string | string[] | undefined): string | null {
  if (typeof header !== "string") return null;
  const [, version, id, flags = "", rest] = TRACEPARENT.exec(header) ?? [];
  // Later versions may add fields after these.
  if (id === undefined || (version === "00" && rest !== undefined)) return null;
  return `${id}-0${parseInt(flags, 16) & KNOWN_FLAGS}`;
}

/** Returns the header of a request that the trace causes, as a new span of 8 random bytes. */
export function formatTraceparent(trace: string, span: Uint8Array): string {
  const end = trace.indexOf("-");
  return `00-${trace.slice(0, end)}-${Buffer.from(span).toString("hex")}${trace.slice(end)}`;
}

/** Returns the field of a log line, if there is a trace. */
export function tracedLine(trace: string | null): { trace_id?: string } {
  return trace === null ? {} : { trace_id: trace.slice(0, trace.indexOf("-")) };
}

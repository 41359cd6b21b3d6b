const KINDS: Record<string, string> = {
  succeeded: "good",
  completed: "good",
  enabled: "good",
  active: "good",
  failed: "bad",
  revoked: "bad",
  leaked: "bad",
  expired: "bad",
  pending: "wait",
  disabled: "off",
  canceled: "off",
};

const SIGNS: Record<string, string> = { good: "✓", bad: "✕", wait: "…", off: "–" };

/** A status in words, with a sign and a colour beside them. */
export function Badge({ status }: { status: string }) {
  const kind = KINDS[status] ?? "off";
  return (
    <span class={`badge ${kind}`}>
      <span aria-hidden="true">{SIGNS[kind]}</span> {status}
    </span>
  );
}

/** An HTTP status, or that there was none. */
export function StatusCode({ code }: { code: number | null }) {
  if (code === null) return <span class="badge bad">no reply</span>;
  return <span class={`badge ${code < 300 ? "good" : code < 500 ? "wait" : "bad"}`}>{code}</span>;
}

/** What a terminal shows for the code of a failed attempt, in a column of eight characters. */
const LABELS: Readonly<Record<string, string>> = {
  timeout: "timeout",
  dns: "dns",
  tls: "tls",
  connection_refused: "refused",
  connection_closed: "closed",
  invalid_response: "not HTTP",
  unreachable: "no route",
  blocked_target: "blocked",
  network: "failed",
};

/** Returns the label of an attempt without a complete response. */
export function labelOfFailure(code = "network"): string {
  return LABELS[code] ?? code.replaceAll("_", " ");
}

/** Returns whether a label begins with this text, ignoring case. */
export function beginsLabel(text: string): boolean {
  return Object.values(LABELS).some((label) => label.toLowerCase().startsWith(text.toLowerCase()));
}

/** What became of one check; `skipped` where something that it needs is missing. */
export type Verdict = "ok" | "warning" | "failed" | "skipped";

export interface Finding {
  status: Verdict;
  /** What was found: a sentence without its full stop. */
  detail: string;
  /** What to do about it. */
  advice?: string | undefined;
}

/** One thing that `service doctor` looks at. */
export interface Check {
  /** Stable, snake_case. */
  id: string;
  title: string;
  run: () => Finding | Promise<Finding>;
}

export function ok(detail: string): Finding {
  return { status: "ok", detail };
}

export function warning(detail: string, advice: string): Finding {
  return { status: "warning", detail, advice };
}

export function failed(detail: string, advice: string): Finding {
  return { status: "failed", detail, advice };
}

export function skipped(why: string): Finding {
  return { status: "skipped", detail: `not checked: ${why}` };
}

import { EXIT_CODES } from "../../errors.ts";

/** The result of one check; `skipped` if something that it needs is missing. */
export type Verdict = "ok" | "warning" | "failed" | "skipped";

export interface Finding {
  status: Verdict;
  /** The finding: a sentence without its period. */
  detail: string;
  /** How to fix it. */
  advice?: string | undefined;
  /** The exit code for it, of a failure. */
  exitCode?: number;
}

/** One check of `service doctor`. */
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

export function failed(detail: string, advice: string | undefined, exitCode: number = EXIT_CODES.failed): Finding {
  return { status: "failed", detail, advice, exitCode };
}

export function skipped(why: string): Finding {
  return { status: "skipped", detail: `not checked: ${why}` };
}

import type { Problem } from "../errors.ts";

/** What a person is told about an error code, on the page that its `type` leads to. Backticks mark code. */
export interface ErrorGuide {
  meaning: string;
  cause: string;
  remedy: string;
  /** What an example document holds besides what every one has. */
  example: { detail: string } & Partial<Problem>;
}

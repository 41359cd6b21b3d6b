import { problemDetail } from "../../../contract/errors.ts";
import type { ResourceView } from "../../terminal/view.ts";

/** A delivery and its response, as `--json` prints it. */
export interface Sent {
  id: string | null;
  url: string;
  status: number | null;
  duration_ms: number;
  headers: [name: string, value: string][];
  response_headers: Record<string, string>;
  body: string;
  error: { code: string; message: string } | null;
  hint: string | undefined;
}

export const SENT: ResourceView<Sent> = {
  noun: "delivery",
  fields: ["id", "url", "status", "duration_ms", "headers", "response_headers", "body", "error", "hint"],
  columns: [
    { label: "Status", text: ({ status, error }) => String(status ?? error?.code) },
    { label: "Duration", text: ({ duration_ms: duration }) => String(duration) },
    { label: "ID", text: ({ id }) => id ?? "" },
    { label: "Response", text: ({ error, body }) => error?.message ?? problemDetail(body) ?? body.trim() },
    { label: "Hint", text: ({ hint }) => hint ?? "" },
  ],
};

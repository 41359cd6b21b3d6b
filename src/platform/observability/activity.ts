/** The platform's activity, one line each in the output of `service serve`. */
export type Activity =
  | {
      event: "request";
      method: string;
      path: string;
      status: number;
      duration_ms: number;
      request_id: string;
      /** Set for a request of the `service` command. */
      client?: "service-cli" | undefined;
      /** Set if the request belongs to a trace. */
      trace_id?: string;
    }
  | {
      event: "delivery";
      delivery: string;
      endpoint: string;
      event_id: string;
      event_type: string;
      /** 1 for the first. */
      attempt: number;
      /** The delivery's status now: pending if there will be a retry. */
      status: "pending" | "succeeded" | "failed" | "canceled";
      status_code: number | null;
      error: string | null;
      duration_ms: number;
      /** Set if the request that caused the event belongs to a trace. */
      trace_id?: string;
    }
  | { event: "listener"; state: "connected" | "disconnected"; listener: string; environment: string }
  | { event: "warning"; message: string };

/** What the platform does, as it happens: one line each in `service serve`. */
export type Activity =
  | { event: "request"; method: string; path: string; status: number; duration_ms: number; request_id: string }
  | { event: "listener"; state: "connected" | "disconnected"; listener: string; environment: string }
  | { event: "warning"; message: string };

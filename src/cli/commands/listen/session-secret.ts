import type { SessionOptions } from "../../../relay/session.ts";
import { Session } from "../../../relay/session.ts";
import { explainListenError } from "./explain.ts";

/** A script should not hang where there is no platform. */
const TIMEOUT_MS = 10_000;

/** Asks the platform for the signing secret of this machine. */
export async function fetchSessionSecret(
  platform: Pick<SessionOptions, "baseUrl" | "authorization" | "agent" | "device">,
  signal: AbortSignal,
): Promise<string> {
  let secret: string | undefined;
  const session = new Session({
    ...platform,
    after: "now",
    maxDowntimeMs: TIMEOUT_MS,
    report: (report) => {
      if (report.event !== "ready") return;
      secret = report.secret;
      void session.stop();
    },
  });
  const stop = () => void session.stop();
  signal.addEventListener("abort", stop, { once: true });
  session.start();
  const { error } = await session.ended;
  signal.removeEventListener("abort", stop);
  if (error !== undefined) throw explainListenError(error);
  if (secret === undefined) throw signal.reason;
  return secret;
}

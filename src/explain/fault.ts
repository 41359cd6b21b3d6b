import type { Fault } from "../contract/schemas/fault.ts";
import type { RequestLogDetail } from "../contract/schemas/request-log.ts";

/** Whether a fault still affects requests. One that the credential may not read is taken for active. */
export type FaultState = "active" | "used up" | "removed";

/** Returns what became of the fault that made a request fail; undefined if none did. */
export async function faultOf(
  request: RequestLogDetail | undefined,
  api: { problemOf(error: unknown): { status: number } | undefined },
  read: (id: string) => Promise<Fault>,
): Promise<FaultState | undefined> {
  if (request?.fault?.effect !== "status") return undefined;
  try {
    const { times, injected } = await read(request.fault.id);
    return times !== null && injected >= times ? "used up" : "active";
  } catch (error) {
    const status = api.problemOf(error)?.status;
    if (status === undefined) throw error;
    return status === 404 ? "removed" : "active";
  }
}

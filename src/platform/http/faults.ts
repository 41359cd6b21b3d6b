import { pause } from "../../network/clock.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ErrorCode } from "../../contract/errors.ts";
import { HEADERS } from "../../contract/headers.ts";
import { ApiError } from "../domain/api-error.ts";
import { faultFor } from "../domain/faults.ts";
import type { With } from "../tools.ts";
import type { FaultRow } from "../storage/faults.ts";

declare module "fastify" {
  interface FastifyRequest {
    fault: FaultRow | null;
  }
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  429: "rate_limited",
  500: "internal_error",
  502: "bad_gateway",
  503: "unavailable",
};
const RETRY_AFTER_SECONDS = "1";
/** The log's status of a request that was cut off before it had a response. */
const CUT_OFF = 503;

/** Closes the connections of requests whose fault requires it, in place of their response. */
export function cutOffResponses(app: FastifyInstance): void {
  app.decorateRequest("fault", null);
  app.addHook("onSend", (request, reply, payload, done) => {
    const effect = request.fault?.effect;
    if (effect === "truncate") truncate(request, reply, payload);
    else if (effect === "disconnect" || effect === "lose_response") cutOff(reply);
    else done(null, payload);
  });
}

/**
 * Gives a request the fault that it matches, if any, before it has an effect. Throws the ApiError of an error response.
 * Returns true if the request gets no other response.
 */
export async function injectFault(
  { database, clock, random }: With<"database" | "clock" | "random">,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const { method, url, caller, deadline } = request;
  const path = url.split("?", 1)[0]!;
  const fault = await faultFor({ database, random }, caller!.tenant, { method, path });
  if (fault === undefined) return false;
  request.fault = fault;
  void reply.header(HEADERS.fault, fault.id);
  if (fault.effect === "status") throw errorOf(fault);
  if (fault.effect === "delay") {
    deadline!.pause();
    await pause(clock, fault.delay_ms!);
    deadline!.resume();
  }
  const isDisconnected = fault.effect === "disconnect";
  if (isDisconnected) void reply.code(CUT_OFF).send("");
  return isDisconnected;
}

function errorOf({ id, status }: FaultRow): ApiError {
  const headers: Record<string, string> =
    status === 429 || status === 503 ? { "Retry-After": RETRY_AFTER_SECONDS } : {};
  const detail = `The fault ${id} makes this request fail on purpose. Nothing was changed.`;
  return new ApiError(CODES[status!]!, detail, { headers });
}

/** Sends the headers and half of the body. */
function truncate({ method }: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const body = Buffer.from((payload ?? "") as string | Buffer);
  if (method === "HEAD" || body.length === 0) return cutOff(reply);
  const { raw } = reply;
  reply.header("Content-Length", body.length);
  reply.hijack();
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  raw.write(body.subarray(0, Math.floor(body.length / 2)), () => cutOff(reply));
}

/** Closes the connection. The request is logged as any other, which happens at the end of a response. */
function cutOff(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
  reply.raw.emit("error", new Error("a fault closed the connection"));
}

export type { WebhookEvent } from "./event.ts";
export type { Payload } from "./payload.ts";
export type { Secrets } from "./secrets.ts";
export { sign, type SignOptions } from "./sign.ts";
export { SignatureError, type SignatureErrorCode } from "./signature-error.ts";
export { SIGNATURE_HEADER, SIGNATURE_HEADER_DISPLAY, type SignatureHeaderValue } from "./signature-header.ts";
export { TOLERANCE_SECONDS, type VerifiedSignature, verify, type VerifyOptions, verifySignature } from "./verify.ts";
export { expressWebhook, type NextFunction } from "./adapters/express.ts";
export {
  type FastifyWebhookReply,
  type FastifyWebhookRequest,
  type FastifyWebhookScope,
  fastifyWebhook,
} from "./adapters/fastify.ts";
export { type FetchRequest, fetchWebhook, verifyRequest } from "./adapters/fetch.ts";
export { type HonoContext, honoWebhook } from "./adapters/hono.ts";
export { type NodeRequest, type NodeResponse, nodeWebhook, type NodeWebhookOptions } from "./adapters/node.ts";
export type { WebhookOptions } from "./adapters/receiver.ts";

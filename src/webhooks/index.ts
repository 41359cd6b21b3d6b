export type * from "./event-objects.ts";
export type { EventEnvelope, WebhookEvent, WebhookEventType } from "./event.ts";
export {
  type Payload,
  type Secrets,
  sign,
  signAsync,
  type SignOptions,
  TOLERANCE_SECONDS,
  type VerifiedSignature,
  verify,
  verifyAsync,
  type VerifyOptions,
  verifySignature,
  verifySignatureAsync,
} from "./signature.ts";
export { SignatureError, type SignatureErrorCode } from "./signature-error.ts";
export { SIGNATURE_HEADER, SIGNATURE_HEADER_DISPLAY, type SignatureHeaderValue } from "./signature-header.ts";
export { type FetchRequest, fetchWebhook, type HonoContext, honoWebhook, verifyRequest } from "./adapters/fetch.ts";
export { type LambdaRequest, type LambdaResponse, lambdaWebhook } from "./adapters/lambda.ts";
export {
  type ExpressRequest,
  type ExpressResponse,
  expressWebhook,
  fastifyWebhook,
  type FastifyWebhookReply,
  type FastifyWebhookRequest,
  type FastifyWebhookScope,
  type KoaContext,
  koaWebhook,
  type NextFunction,
  type NodeRequest,
  type NodeResponse,
  nodeWebhook,
} from "./adapters/node.ts";
export type { WebhookOptions } from "./adapters/receiver.ts";

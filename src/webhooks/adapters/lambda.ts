import type { WebhookEvent } from "../event.ts";
import type { Payload } from "../signature.ts";
import { SignatureError } from "../signature-error.ts";
import { SIGNATURE_HEADER, type SignatureHeaderValue } from "../signature-header.ts";
import { assertPost, createReceiver, type WebhookOptions } from "./receiver.ts";

/**
 * The used part of a Lambda invocation: API Gateway payload format 1.0 or 2.0, a function URL, or an Application Load
 * Balancer (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 */
export interface LambdaRequest {
  /** Format 1.0, and load balancers. */
  readonly httpMethod?: string | undefined;
  /** Format 2.0, and function URLs. */
  readonly requestContext?: { readonly http?: { readonly method?: string | undefined } | undefined } | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

/** The response of a Lambda function, which both formats accept. */
export interface LambdaResponse {
  statusCode: number;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * Returns a Lambda function for API Gateway and function URLs: `export const handler = lambdaWebhook({ secrets }, async
 * (event) => { ... })`. Decodes bodies that are base64-encoded. Responds 204 unless the handler returns a response. Errors
 * of the handler reach the Lambda runtime, which responds 5xx, so that the delivery is retried. Throws SignatureError at
 * once if the options are invalid.
 */
export function lambdaWebhook<Request extends LambdaRequest, Context, Result extends LambdaResponse>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request, context: Context) => Result | void | Promise<Result | void>,
): (request: Request, context: Context) => Promise<Result | LambdaResponse> {
  const { receive, reject } = createReceiver(options);
  return async (request, context) => {
    let event: WebhookEvent;
    try {
      assertPost(request.requestContext?.http?.method ?? request.httpMethod);
      event = await receive(signatureHeader(request), () => bodyOf(request));
    } catch (error) {
      const { status, headers, body } = await reject(error);
      return { statusCode: status, headers, body };
    }
    return (await handler(event, request, context)) ?? { statusCode: 204 };
  };
}

/** Format 1.0 keeps the case of header names, and all values of a header only in `multiValueHeaders`. */
function signatureHeader({ headers, multiValueHeaders }: LambdaRequest): SignatureHeaderValue {
  const all = valueOf(multiValueHeaders);
  return all === undefined || all.length === 1 ? (valueOf(headers) ?? all?.[0]) : all;
}

function valueOf<Value>(headers: Readonly<Record<string, Value>> | null | undefined): Value | undefined {
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === SIGNATURE_HEADER)?.[1];
}

function bodyOf({ body, isBase64Encoded }: LambdaRequest): Payload {
  return isBase64Encoded === true ? fromBase64(body ?? "") : (body ?? "");
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new SignatureError("payload_not_raw", "`isBase64Encoded` is true, but `body` is not base64", { cause });
  }
}

import { describe, expect, it, vi } from "vitest";
import { type LambdaRequest, lambdaWebhook, SignatureError, type WebhookEvent } from "../../src/webhooks/index.ts";
import { EVENT, headerOf, NOW, OTHER_SECRET, PAYLOAD, SECRET } from "./deliveries.ts";

const OPTIONS = { secrets: SECRET, now: () => NOW };

interface Delivery {
  body: string;
  header?: string;
  method?: string;
  base64?: boolean;
}

/** API Gateway's format 1.0: header names as sent, and a list of each header's values. */
function format1({ body, header = headerOf(body), method = "POST", base64 = false }: Delivery): LambdaRequest {
  const headers = { "Content-Type": "application/json", "Service-Signature": header };
  return {
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    body: base64 ? Buffer.from(body).toString("base64") : body,
    isBase64Encoded: base64,
  };
}

/** API Gateway's format 2.0, also used by function URLs: header names in lowercase. */
function format2({ body, header = headerOf(body), method = "POST", base64 = false }: Delivery): LambdaRequest {
  return {
    requestContext: { http: { method } },
    headers: { "content-type": "application/json", "service-signature": header },
    body: base64 ? Buffer.from(body).toString("base64") : body,
    isBase64Encoded: base64,
  };
}

describe.each([
  ["format 1.0", format1],
  ["format 2.0 and function URLs", format2],
])("AWS Lambda, %s", (_name, format) => {
  it.each([false, true])("passes verified events to the handler; the body is base64: %s", async (base64) => {
    const received: WebhookEvent[] = [];
    const handler = lambdaWebhook(OPTIONS, (event) => void received.push(event));
    expect(await handler(format({ body: PAYLOAD, base64 }), {})).toEqual({ statusCode: 204 });
    const unicode = '{ "id":"evt_2", "name":"Zoë 🐶" }';
    expect(await handler(format({ body: unicode, base64 }), {})).toEqual({ statusCode: 204 });
    expect(received).toEqual([EVENT, JSON.parse(unicode)]);
  });

  it("returns the handler's response, and gives the handler the request and the context", async () => {
    const request = format({ body: PAYLOAD });
    const handler = lambdaWebhook(OPTIONS, async (event, given, context: { awsRequestId: string }) => ({
      statusCode: 202,
      headers: { "x-event": event.id },
      body: `${given === request} ${context.awsRequestId}`,
    }));
    expect(await handler(request, { awsRequestId: "r1" })).toEqual({
      statusCode: 202,
      headers: { "x-event": EVENT.id },
      body: "true r1",
    });
  });

  it.each<[string, Delivery, number, string]>([
    ["another secret", { body: PAYLOAD, header: headerOf(PAYLOAD, NOW, OTHER_SECRET) }, 400, "signature_mismatch"],
    ["another body", { body: `${PAYLOAD} `, header: headerOf(PAYLOAD) }, 400, "signature_mismatch"],
    ["an old t", { body: PAYLOAD, header: headerOf(PAYLOAD, NOW - 301) }, 400, "timestamp_too_old"],
    ["an empty header", { body: PAYLOAD, header: "" }, 400, "header_missing"],
    [
      "two headers joined",
      { body: PAYLOAD, header: `${headerOf(PAYLOAD)},${headerOf(PAYLOAD)}` },
      400,
      "timestamp_repeated",
    ],
    ["another method", { body: PAYLOAD, method: "PUT" }, 405, "method_not_allowed"],
    ["a body over the limit", { body: `"${"ë".repeat(600)}"` }, 413, "body_too_large"],
  ])("responds with problem details to %s", async (_name, delivery, status, code) => {
    const onEvent = vi.fn<() => void>();
    const response = await lambdaWebhook({ ...OPTIONS, limit: 1000 }, onEvent)(format(delivery), {});
    expect(response).toMatchObject({ statusCode: status, headers: { "content-type": "application/problem+json" } });
    expect(JSON.parse(response.body!)).toMatchObject({ status, code });
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("rejects with errors of the handler and of the secrets function", async () => {
    const failure = new Error("boom");
    const failing = lambdaWebhook(OPTIONS, async () => Promise.reject(failure));
    await expect(failing(format({ body: PAYLOAD }), {})).rejects.toBe(failure);
    const sealed = lambdaWebhook({ secrets: async () => Promise.reject(failure) }, () => undefined);
    await expect(sealed(format({ body: PAYLOAD }), {})).rejects.toBe(failure);
  });
});

describe("AWS Lambda", () => {
  it("rejects a header that was sent twice, though format 1.0 also shows it as a single value", async () => {
    const request = format1({ body: PAYLOAD });
    const twice = { ...request, multiValueHeaders: { "service-signature": [headerOf(PAYLOAD), headerOf(PAYLOAD)] } };
    const response = await lambdaWebhook(OPTIONS, () => undefined)(twice, {});
    expect(JSON.parse(response.body!)).toMatchObject({ code: "header_not_text" });
  });

  it("accepts the header of a load balancer that sends only lists", async () => {
    const request = { ...format1({ body: PAYLOAD }), headers: null };
    expect(await lambdaWebhook(OPTIONS, () => undefined)(request, {})).toEqual({ statusCode: 204 });
  });

  it("responds to a request without headers and body, and to a body that is not base64", async () => {
    const handler = lambdaWebhook(OPTIONS, () => undefined);
    const bare = await handler({ requestContext: { http: { method: "POST" } } }, {});
    expect(JSON.parse(bare.body!)).toMatchObject({ code: "header_missing", status: 400 });
    const broken = await handler({ ...format2({ body: PAYLOAD }), body: "{}", isBase64Encoded: true }, {});
    expect(JSON.parse(broken.body!)).toMatchObject({ code: "payload_not_raw", status: 500 });
  });

  it("throws at once if the options are invalid", () => {
    expect(() => lambdaWebhook({ secrets: "" }, () => undefined)).toThrow(SignatureError);
  });
});

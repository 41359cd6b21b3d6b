import type { FastifyInstance } from "fastify";
import { DOCUMENT_PATH, WORKFLOWS_PATH } from "../http/openapi/document-paths.ts";

/** Serves the common sequences of calls as an Arazzo document, which programs can run. */
export function registerWorkflows(app: FastifyInstance, baseUrl: () => string): void {
  app.get(WORKFLOWS_PATH, { config: { crossOrigin: "anyone" } }, async (_request, reply) =>
    reply
      .header("Cache-Control", "no-cache")
      .header("Content-Type", "application/json; charset=utf-8")
      .send(JSON.stringify(workflowsDocument(baseUrl() + DOCUMENT_PATH))),
  );
}

type Json = Record<string, unknown>;

const AUTHORIZATION = { name: "Authorization", in: "header", value: "Bearer {$inputs.api_key}" };
const API_KEY = { type: "string", description: "API key of the sandbox" };
const URL_INPUT = { type: "string" };
/** A delivery is attempted within a second; the schedule of retries takes longer. */
const WAIT = [{ name: "wait", type: "retry", retryAfter: 0.5, retryLimit: 60 }];

/** Returns the document in Arazzo 1.0.1, for the OpenAPI document at this URL. */
function workflowsDocument(openapi: string): Json {
  return {
    arazzo: "1.0.1",
    info: {
      title: "Service API workflows",
      version: "1.0.0",
      summary: "Pay for an order, receive events, retry a failed delivery",
    },
    sourceDescriptions: [{ name: "service", type: "openapi", url: openapi }],
    workflows: [payForOrder(), receiveEvents(), retryDelivery()],
  };
}

function payForOrder(): Json {
  return {
    workflowId: "payForOrder",
    summary: "Create a customer and an order, pay for it, and see the event",
    inputs: inputs({ email: { type: "string" } }),
    parameters: [AUTHORIZATION],
    steps: [
      step("createCustomer", 201, { body: { email: "$inputs.email" }, outputs: { id: "$response.body#/id" } }),
      step("createOrder", 201, {
        body: { amount: 1999, currency: "EUR", customer: "$steps.createCustomer.outputs.id" },
        outputs: { id: "$response.body#/id" },
      }),
      step("createPayment", 201, {
        body: { amount: 1999, currency: "EUR", order: "$steps.createOrder.outputs.id" },
        outputs: { id: "$response.body#/id" },
      }),
      step("succeedPayment", 200, { id: "$steps.createPayment.outputs.id" }),
      step("completeOrder", 200, { id: "$steps.createOrder.outputs.id" }),
      step("listEvents", 200, {
        query: { related: "$steps.createPayment.outputs.id", type: "payment.succeeded" },
        until: ["$response.body#/data/0/type == 'payment.succeeded'"],
        outputs: { event: "$response.body#/data/0/id" },
      }),
    ],
    outputs: { order: "$steps.createOrder.outputs.id", event: "$steps.listEvents.outputs.event" },
  };
}

function receiveEvents(): Json {
  return {
    workflowId: "receiveEvents",
    summary: "Add a webhook endpoint, send it an event, and see the delivery",
    inputs: inputs({ url: { ...URL_INPUT, description: "Where the endpoint accepts events" } }),
    parameters: [AUTHORIZATION],
    steps: [
      createEndpoint("$inputs.url"),
      step("pingWebhookEndpoint", 201, { id: "$steps.createWebhookEndpoint.outputs.id", body: {} }),
      listDeliveries("listDeliveries", ["$response.body#/data/0/status == 'succeeded'"]),
      step("getDelivery", 200, {
        id: "$steps.listDeliveries.outputs.id",
        until: ["$response.body#/attempts/0/status_code < 300"],
      }),
      step("deleteWebhookEndpoint", 200, { id: "$steps.createWebhookEndpoint.outputs.id" }),
    ],
    outputs: { delivery: "$steps.listDeliveries.outputs.id" },
  };
}

function retryDelivery(): Json {
  return {
    workflowId: "retryDelivery",
    summary: "Correct the URL of an endpoint whose delivery failed, and retry it",
    inputs: inputs({
      broken_url: { ...URL_INPUT, description: "A URL that rejects events" },
      url: { ...URL_INPUT, description: "Where the endpoint accepts events" },
    }),
    parameters: [AUTHORIZATION],
    steps: [
      createEndpoint("$inputs.broken_url"),
      step("pingWebhookEndpoint", 201, { id: "$steps.createWebhookEndpoint.outputs.id", body: {} }),
      listDeliveries("findFailedAttempt", ["$response.body#/data/0/attempt_count > 0"]),
      step("updateWebhookEndpoint", 200, {
        id: "$steps.createWebhookEndpoint.outputs.id",
        body: { url: "$inputs.url" },
      }),
      step("retryDelivery", 200, { id: "$steps.findFailedAttempt.outputs.id" }),
      step("getDelivery", 200, {
        id: "$steps.findFailedAttempt.outputs.id",
        until: ["$response.body#/status == 'succeeded'"],
      }),
      step("deleteWebhookEndpoint", 200, { id: "$steps.createWebhookEndpoint.outputs.id" }),
    ],
    outputs: { delivery: "$steps.findFailedAttempt.outputs.id" },
  };
}

function createEndpoint(url: string): Json {
  return step("createWebhookEndpoint", 201, {
    body: { url, events: ["customer.created"] },
    outputs: { id: "$response.body#/id" },
  });
}

/** A step that waits for a delivery to the created endpoint. */
function listDeliveries(stepId: string, until: readonly string[]): Json {
  return {
    ...step("listDeliveries", 200, {
      query: { endpoint: "$steps.createWebhookEndpoint.outputs.id" },
      until,
      outputs: { id: "$response.body#/data/0/id" },
    }),
    stepId,
  };
}

function inputs(properties: Json): Json {
  return {
    type: "object",
    properties: { api_key: API_KEY, ...properties },
    required: ["api_key", ...Object.keys(properties)],
  };
}

interface StepOptions {
  /** The ID of the object in the path. */
  id?: string;
  query?: Record<string, string>;
  body?: Json;
  /** Repeats the step until these conditions are met. */
  until?: readonly string[];
  outputs?: Json;
}

function step(operation: string, status: number, { id, query = {}, body, until, outputs }: StepOptions): Json {
  const parameters = [
    ...(id === undefined ? [] : [{ name: "id", in: "path", value: id }]),
    ...Object.entries(query).map(([name, value]) => ({ name, in: "query", value })),
  ];
  const conditions = [`$statusCode == ${status}`, ...(until ?? [])];
  return {
    stepId: operation,
    operationId: operation,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { contentType: "application/json", payload: body } }),
    successCriteria: conditions.map((condition) => ({ condition })),
    ...(until === undefined ? {} : { onFailure: WAIT }),
    ...(outputs === undefined ? {} : { outputs }),
  };
}

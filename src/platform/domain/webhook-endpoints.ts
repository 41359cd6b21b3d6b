import { formatSigningSecret } from "../../contract/credentials.ts";
import type { EventType } from "../../contract/event-types.ts";
import { LIMITS } from "../../contract/limits.ts";
import type {
  SecretRotate,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointUpdate,
} from "../../contract/schemas/webhook-endpoint.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { With } from "../tools.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { takeTurn } from "../storage/environments.ts";
import { storedChanges, storedFields, valuesOf } from "../storage/field-values.ts";
import {
  countEndpoints,
  disableEndpoint,
  endpointRows,
  setFailingReported,
  type WebhookEndpointRow,
} from "../storage/webhook-endpoints.ts";
import { ApiError, invalidFields, readsOf } from "./api-error.ts";
import { checkEndpointUrl, type EndpointUrlRules } from "./endpoint-target.ts";
import { type DomainEvent, emit, emitTo } from "./events.ts";
import { changedMaps } from "./maps.ts";
import type { RequestContext, Tenant } from "./request-context.ts";

export interface EndpointTools extends With<"vault" | "random"> {
  urlRules: EndpointUrlRules;
}

/** Registers an endpoint. Only the response shows its secret. */
export async function createEndpoint(context: RequestContext, input: WebhookEndpointCreate, tools: EndpointTools) {
  const { tx } = context;
  const { environment } = context.tenant;
  assertUrl(input.url, context.tenant, tools);
  await takeTurn(tx, environment);
  if ((await countEndpoints(tx, environment)) >= LIMITS.endpointsPerEnvironment) {
    const detail = `The environment already has the maximum of ${LIMITS.endpointsPerEnvironment} endpoints.`;
    throw new ApiError("endpoint_limit", `${detail} Delete one that you no longer use.`);
  }
  const id = context.newId("webhook_endpoint");
  const secret = formatSigningSecret(tools.random.bytes(32));
  const row: WebhookEndpointRow = {
    environment,
    id,
    ...storedFields("webhook_endpoint", { ...input, ...changedMaps("webhook_endpoint", { id }, input, tools.vault) }),
    status: "enabled",
    disabled_reason: null,
    disabled_at: null,
    secret: tools.vault.seal(secret, id),
    secret_created: context.now,
    previous_secret: null,
    previous_until: null,
    created: context.now,
    failures: 0,
    first_failure: null,
    last_failure: null,
    failing_reported: 0,
  };
  await endpointRows.insert(tx, row);
  return { ...toEndpoint(row, context.tenant), secret };
}

/**
 * Changes the given fields. A disabled endpoint's pending deliveries wait until it is enabled, or until their 3 days
 * are over.
 */
export async function changeEndpoint(
  context: RequestContext,
  id: string,
  input: WebhookEndpointUpdate,
  tools: EndpointTools,
): Promise<WebhookEndpoint> {
  const { tx } = context;
  const row = await webhookEndpoints.row(tx, context.tenant, id);
  if (input.url !== undefined) assertUrl(input.url, context.tenant, tools);
  const maps = changedMaps("webhook_endpoint", row, input, tools.vault);
  Object.assign(row, storedChanges("webhook_endpoint", { ...input, ...maps }));
  const { status = row.status } = input;
  const isDisabled = status !== row.status && status === "disabled";
  if (status !== row.status) {
    row.status = status;
    row.disabled_reason = isDisabled ? "user" : null;
    row.disabled_at = isDisabled ? context.now : null;
  }
  await endpointRows.update(tx, row);
  if (isDisabled) await emitHealth(context, "webhook_endpoint.disabled", row);
  tx.notify("deliveries");
  return toEndpoint(row, context.tenant);
}

/** Disables an endpoint that responded with 410 Gone at a URL, unless its URL has changed since. */
export async function disableGoneEndpoint(
  tx: Transaction,
  contextOf: () => Promise<RequestContext>,
  gone: { environment: number; id: string; url: string; at: number },
): Promise<boolean> {
  if (!(await disableEndpoint(tx, gone))) return false;
  const row = (await endpointRows.find(tx, gone.environment, gone.id))!;
  await emitHealth(await contextOf(), "webhook_endpoint.disabled", row);
  return true;
}

/** Events about the health of an endpoint, which the delivery engine emits. */
const HEALTH_EVENTS: ReadonlySet<string> = new Set<EventType>([
  "webhook_endpoint.failing",
  "webhook_endpoint.recovered",
  "webhook_endpoint.disabled",
]);

/**
 * Returns true if an attempt to deliver an event of this type may cause an event about the endpoint's health. Those of
 * health events cause none: endpoints that fail could otherwise cause events for each other without end.
 */
export function isReportable(type: string): boolean {
  return !HEALTH_EVENTS.has(type);
}

/**
 * Emits `webhook_endpoint.failing` or `webhook_endpoint.recovered` if the endpoint is failing and that was not reported
 * yet, or the reverse. Its row must be locked, so that only one process reports it.
 */
export async function reportHealth(
  tx: Transaction,
  contextOf: () => Promise<RequestContext>,
  { environment, id }: { environment: number; id: string },
): Promise<void> {
  const row = await endpointRows.find(tx, environment, id);
  if (row === undefined) return;
  const isFailing = failingSince(row) !== null;
  if (isFailing === (row.failing_reported === 1)) return;
  await setFailingReported(tx, environment, id, isFailing);
  await emitHealth(await contextOf(), isFailing ? "webhook_endpoint.failing" : "webhook_endpoint.recovered", row);
}

/** The endpoint itself does not get the event, because that delivery would fail, too. */
async function emitHealth(context: RequestContext, type: EventType, row: WebhookEndpointRow) {
  await emit(context, { type, object: toEndpoint(row, context.tenant) }, row.id);
}

/** Deletes an endpoint. Its pending deliveries are canceled. */
export async function removeEndpoint(context: RequestContext, id: string) {
  const { tx } = context;
  await webhookEndpoints.row(tx, context.tenant, id);
  await endpointRows.remove(tx, context.tenant.environment, id);
  tx.notify("deliveries");
  return { id, object: "webhook_endpoint" as const, deleted: true as const };
}

/**
 * Gives the endpoint a new secret, which only this response shows. Until the overlap is over, the old one signs too.
 */
export async function rotateSecret(
  context: RequestContext,
  id: string,
  { overlap_seconds: overlap = LIMITS.secretOverlapSecondsDefault }: SecretRotate,
  tools: EndpointTools,
): Promise<WebhookEndpoint> {
  const { tx } = context;
  const row = await webhookEndpoints.row(tx, context.tenant, id);
  const secret = formatSigningSecret(tools.random.bytes(32));
  row.previous_secret = overlap === 0 ? null : row.secret;
  row.previous_until = overlap === 0 ? null : context.now + overlap * 1000;
  row.secret = tools.vault.seal(secret, id);
  row.secret_created = context.now;
  await endpointRows.update(tx, row);
  return { ...toEndpoint(row, context.tenant), secret };
}

/** Sends an event to this endpoint only, whatever it subscribes to. */
export async function pingEndpoint(context: RequestContext, id: string, sample?: DomainEvent) {
  const { tx, tenant } = context;
  const row = await webhookEndpoints.row(tx, tenant, id);
  if (row.status === "disabled") throw endpointDisabled(id);
  // A receiver would mistake a sample for a real event.
  if (sample !== undefined && tenant.livemode) {
    throw new ApiError("sandbox_only", `A sample of ${sample.type} can be sent in the sandbox only.`);
  }
  return emitTo(context, sample ?? { type: "webhook_endpoint.ping", object: toEndpoint(row, tenant) }, id);
}

export const webhookEndpoints = readsOf("webhook_endpoint", endpointRows, toEndpoint);

/** Returns every endpoint, newest first. */
export function allEndpoints(queries: Queries, tenant: Tenant): Promise<WebhookEndpoint[]> {
  const { environment } = tenant;
  return webhookEndpoints.page(queries, tenant, { environment, limit: LIMITS.endpointsPerEnvironment });
}

export function endpointDisabled(id: string): ApiError {
  return new ApiError("endpoint_disabled", `The endpoint ${id} is disabled. Enable it first.`);
}

function assertUrl(url: string, tenant: Tenant, { urlRules }: EndpointTools): void {
  const error = checkEndpointUrl(url, { ...urlRules, allowHttp: urlRules.allowHttp && !tenant.livemode });
  if (error !== undefined) throw invalidFields([error]);
}

/** Returns when the attempts began to fail, once `LIMITS.failingAttempts` in a row or all of an hour have failed. */
function failingSince({ failures, first_failure: first, last_failure: last }: WebhookEndpointRow): string | null {
  if (first === null || last === null) return null;
  const isFailing = failures >= LIMITS.failingAttempts || last - first >= LIMITS.failingSeconds * 1000;
  return isFailing ? formatTimestamp(first) : null;
}

function toEndpoint(row: WebhookEndpointRow, tenant: Tenant): WebhookEndpoint {
  const { status, ...values } = valuesOf("webhook_endpoint", row);
  return {
    id: row.id,
    object: "webhook_endpoint",
    ...values,
    status,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at === null ? null : formatTimestamp(row.disabled_at),
    health: { failing_since: failingSince(row) },
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
    secret_created: formatTimestamp(row.secret_created),
    previous_secret_until: row.previous_until === null ? null : formatTimestamp(row.previous_until),
  };
}

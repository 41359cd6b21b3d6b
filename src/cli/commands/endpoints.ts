import { apiPath } from "../../client/base-url.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Attempt, Delivery } from "../../contract/schemas/delivery.ts";
import type { EventType } from "../../contract/event-types.ts";
import type { Event } from "../../contract/schemas/event.ts";
import type { SecretRotate, WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { shellCommand, shellWord } from "../../contract/shell-command.ts";
import { duration, parseEventType } from "../arguments/values.ts";
import { type CommandDefinition, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { awaitAttempt, showAttempt } from "../resource/attempt-result.ts";
import { formatSpan } from "../terminal/time.ts";
import { EVENTS } from "../resource/event-view.ts";
import { createVerb, updateVerb } from "../resource/fields.ts";
import { rejectQuiet } from "../resource/show-secret.ts";
import {
  callVerb,
  changeObject,
  confirmDestruction,
  deleteVerb,
  getVerb,
  type Idempotent,
  IDEMPOTENCY_KEY,
  idOperand,
  listVerb,
} from "../resource/verbs.ts";
import { ENDPOINT_WITH_SECRET, ENDPOINTS, isSecretOld } from "../resource/endpoint-view.ts";

/** `service endpoints`. */
export const command: CommandDefinition = {
  name: "endpoints",
  about: "Manage webhook endpoints: the URLs that events are delivered to",
  examples: [
    "service endpoints create --url https://example.com/webhooks --events 'order.*,customer.created'",
    `service endpoints ping ${ENDPOINTS.exampleId}`,
    `service endpoints rotate-secret ${ENDPOINTS.exampleId}`,
  ],
  commands: [
    createVerb("webhook_endpoint", ENDPOINTS, {
      about: "Create a webhook endpoint and show its signing secret, once",
      check: (_flags, context) => rejectQuiet(context, "webhook_endpoint"),
      show: showCreated,
      examples: [
        "service endpoints create --url https://example.com/webhooks --events 'order.*,customer.created'",
        "service endpoints create --url https://preview.example.com/hooks --events '*' --header @headers.txt # Send headers that a proxy requires",
        "secret=$(service endpoints create --url https://example.com/hooks --events '*' --json --jq .secret) # Store the signing secret",
      ],
    }),
    listVerb(ENDPOINTS, {
      filters: [],
      examples: ["service endpoints list", "service endpoints list --json --jq '.[] | {id, url}'"],
      review: warnAboutOldSecrets,
    }),
    getVerb(ENDPOINTS),
    updateVerb("webhook_endpoint", ENDPOINTS, {
      examples: [
        `service endpoints update ${ENDPOINTS.exampleId} --events 'order.*,payment.*' # Replace the list of event types`,
        `service endpoints update ${ENDPOINTS.exampleId} --url https://example.com/webhooks/v2`,
        `service endpoints update ${ENDPOINTS.exampleId} --header 'X-Api-Key: 3f1d0c' --header 'Authorization:' # Set a header and remove another`,
      ],
    }),
    statusChange("enable", "enabled", "Enabled", "Enable a webhook endpoint and resume its pending deliveries"),
    statusChange(
      "disable",
      "disabled",
      "Disabled",
      "Disable a webhook endpoint; pending deliveries wait for up to 3 days",
    ),
    {
      name: "rotate-secret",
      about: "Rotate the signing secret and show the new one, once",
      args: [idOperand(ENDPOINTS.view.noun)],
      options: [
        flag("--overlap <duration>", "How long deliveries are also signed with the old secret, up to 7d", {
          parse: duration(0, LIMITS.maxSecretOverlapSeconds),
          default: LIMITS.secretOverlapSecondsDefault,
          defaultText: "1d",
        }),
        flag("--yes", "Skip the confirmation in live mode when --overlap is 0s"),
        IDEMPOTENCY_KEY,
      ],
      dryRun: true,
      fields: ENDPOINT_WITH_SECRET,
      examples: [
        `service endpoints rotate-secret ${ENDPOINTS.exampleId}`,
        `service endpoints rotate-secret ${ENDPOINTS.exampleId} --overlap 2h --json --jq .secret # Both secrets sign for two hours`,
      ],
      run: runRotate,
    },
    {
      name: "ping",
      about:
        "Send a webhook_endpoint.ping event, or a sample of another type (sandbox), to one endpoint and to connected listeners, and show the response",
      args: [idOperand(ENDPOINTS.view.noun)],
      options: [
        flag("--type <type>", "Type of the event, such as order.completed", {
          parse: parseEventType,
          formerly: "--event",
        }),
        IDEMPOTENCY_KEY,
      ],
      dryRun: true,
      fields: EVENTS.view,
      examples: [
        `service endpoints ping ${ENDPOINTS.exampleId}`,
        `service endpoints ping ${ENDPOINTS.exampleId} --type order.completed # Send a sample of an event type`,
      ],
      run: runPing,
    },
    deleteVerb(ENDPOINTS),
  ],
};

function warnAboutOldSecrets(listed: readonly WebhookEndpoint[], context: Context): void {
  const { output } = context;
  if (output.json || output.quiet) return;
  const old = listed.filter((endpoint) => isSecretOld(endpoint, context.now()));
  if (old.length === 0) return;
  const whose = old.length === 1 ? `The secret of ${old[0]!.id} is` : `The secrets of ${old.length} endpoints are`;
  const which = old.length === 1 ? shellWord(old[0]!.id) : "<id>";
  output.warn(`${whose} older than ${LIMITS.secretAgeDays} days. To rotate: service endpoints rotate-secret ${which}`);
}

async function showCreated(created: WebhookEndpoint, { output }: Context): Promise<void> {
  await output.object(created, ENDPOINT_WITH_SECRET);
  output.note(
    `\nThe secret is shown only once: store it in your receiver now.\nTest the endpoint:\n  ${shellCommand`service endpoints ping ${created.id}`}`,
  );
}

/** `enable` or `disable`. */
function statusChange(name: string, status: WebhookEndpoint["status"], done: string, about: string): CommandDefinition {
  return {
    name,
    about,
    args: [idOperand(ENDPOINTS.view.noun)],
    dryRun: true,
    fields: ENDPOINTS.view,
    examples: [`service endpoints ${name} ${ENDPOINTS.exampleId}`],
    run: (context: Context, id: string) => changeObject(context, ENDPOINTS, { id, changes: { status }, done }),
  };
}

interface RotateFlags extends Idempotent {
  /** Seconds. */
  overlap: number;
  yes?: true;
}

async function runRotate(context: Context, id: string, { overlap, yes, idempotencyKey }: RotateFlags): Promise<void> {
  const { output } = context;
  rejectQuiet(context, "webhook_endpoint");
  if (overlap === 0) {
    await confirmDestruction(context, {
      id,
      path: ENDPOINTS.path,
      consequence: `The old secret of ${id} will stop working immediately`,
      yes,
    });
  }
  const body: SecretRotate = { overlap_seconds: overlap };
  const rotated = await callVerb<WebhookEndpoint>(context, ENDPOINTS, {
    id,
    verb: "rotate_secret",
    body,
    idempotencyKey,
  });
  output.success(`Rotated the secret of webhook endpoint ${id}`);
  await output.object(rotated, ENDPOINT_WITH_SECRET);
  output.note(
    `\nThe secret is shown only once: store it in your receiver now.\n${
      overlap === 0
        ? "Deliveries are now signed with the new secret only."
        : `For ${formatSpan(overlap)}, deliveries are signed with both the old and the new secret.`
    }`,
  );
}

interface PingFlags extends Idempotent {
  type?: EventType;
}

/** Sends a ping and shows the response. Exits with 1 unless it is 2xx. Programs get the event without waiting. */
async function runPing(context: Context, id: string, { type, idempotencyKey }: PingFlags): Promise<void> {
  const { output } = context;
  const body = type === undefined ? {} : { type };
  const event = await callVerb<Event>(context, ENDPOINTS, { id, verb: "ping", body, idempotencyKey });
  if (output.json || output.quiet || output.chosen) return await output.object(event, EVENTS.view);
  const attempt = await awaitAttempt(() => firstAttempt(event.id, id, context), context);
  showAttempt(attempt, event, context);
}

/** Returns the first attempt to deliver an event to this endpoint; undefined if there is none so far. */
async function firstAttempt(event: string, endpoint: string, context: Context): Promise<Attempt | undefined> {
  const list = { method: "GET", path: "/v1/deliveries", query: { event, endpoint } } as const;
  const [delivery] = (await context.request<{ data: Delivery[] }>(list)).data;
  if (delivery === undefined || delivery.attempt_count === 0) return undefined;
  return (await context.request<Delivery>({ method: "GET", path: apiPath`/v1/deliveries/${delivery.id}` }))
    .attempts?.[0];
}

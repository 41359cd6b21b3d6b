import { type Command, Option } from "commander";
import { LIMITS } from "../../contract/limits.ts";
import type { EventType } from "../../contract/event-types.ts";
import type { Event } from "../../contract/schemas/event.ts";
import type { SecretRotate, WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { shellCommand, shellWord } from "../../contract/shell-command.ts";
import { duration, objectId, parseEventType } from "../arguments/values.ts";
import type { Context } from "../context.ts";
import { addDryRun } from "../dry-run.ts";
import { addExamples, addFields } from "../help-layout.ts";
import { formatSpan } from "../terminal/time.ts";
import { EVENTS } from "../resource/event-view.ts";
import { registerCreate, registerUpdate } from "../resource/fields.ts";
import { rejectQuiet } from "../resource/show-secret.ts";
import {
  addIdempotencyKey,
  callVerb,
  confirmDestruction,
  registerDelete,
  registerGet,
  registerList,
  changeObject,
} from "../resource/verbs.ts";
import { ENDPOINT_WITH_SECRET, ENDPOINTS, isSecretOld } from "../resource/endpoint-view.ts";

/** `service endpoints`. */
export function register(program: Command, context: Context): void {
  const endpoints = program
    .command("endpoints")
    .description("Manage webhook endpoints: the URLs that events are delivered to");
  addExamples(endpoints, [
    "service endpoints create --url https://example.com/webhooks --events 'order.*,customer.created'",
    `service endpoints ping ${ENDPOINTS.exampleId}`,
    `service endpoints rotate-secret ${ENDPOINTS.exampleId}`,
  ]);
  registerCreate(endpoints, context, "webhook_endpoint", ENDPOINTS, {
    description: "Create a webhook endpoint and show its signing secret, once",
    show: (created) => showCreated(created, context),
    examples: [
      "service endpoints create --url https://example.com/webhooks --events 'order.*,customer.created'",
      "service endpoints create --url https://preview.example.com/hooks --events '*' --header 'Authorization: Bearer 3f1d0c'",
      "secret=$(service endpoints create --url https://example.com/hooks --events '*' --json --jq .secret)",
    ],
  });
  registerList(endpoints, context, ENDPOINTS, {
    filters: [],
    examples: ["service endpoints list", "service endpoints list --json --jq '.[] | {id, url}'"],
    review: (listed) => warnAboutOldSecrets(listed, context),
  });
  registerGet(endpoints, context, ENDPOINTS);
  registerUpdate(endpoints, context, "webhook_endpoint", ENDPOINTS, {
    examples: [
      `service endpoints update ${ENDPOINTS.exampleId} --events 'order.*,payment.*'`,
      `service endpoints update ${ENDPOINTS.exampleId} --url https://example.com/webhooks/v2`,
      `service endpoints update ${ENDPOINTS.exampleId} --header 'X-Api-Key: 3f1d0c' --header 'Authorization:'`,
    ],
  });
  registerStatusChanges(endpoints, context);
  registerRotateSecret(endpoints, context);
  registerPing(endpoints, context);
  registerDelete(endpoints, context, ENDPOINTS);
}

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
  if (output.quiet && !output.json) {
    return output.warn(
      shellCommand`The secret was not shown and cannot be shown later. To create a new one: service endpoints rotate-secret ${created.id}`,
    );
  }
  output.note(
    `\nThe secret is shown only once: store it in your receiver now.\nTest the endpoint:\n  ${shellCommand`service endpoints ping ${created.id}`}`,
  );
}

/** `enable` and `disable`. */
function registerStatusChanges(endpoints: Command, context: Context): void {
  const change = (name: string, status: WebhookEndpoint["status"], done: string, description: string): void => {
    const command = endpoints
      .command(name)
      .description(description)
      .argument("<id>", "ID of the webhook endpoint", objectId)
      .action((id: string) => changeObject(context, ENDPOINTS, { id, changes: { status }, done }));
    addExamples(addDryRun(addFields(command, ENDPOINTS.view)), [`service endpoints ${name} ${ENDPOINTS.exampleId}`]);
  };
  change("enable", "enabled", "Enabled", "Enable a webhook endpoint and resume its pending deliveries");
  change("disable", "disabled", "Disabled", "Disable a webhook endpoint; pending deliveries wait for up to 3 days");
}

interface RotateFlags {
  /** Seconds. */
  overlap: number;
  yes?: true;
  idempotencyKey?: string;
}

function registerRotateSecret(endpoints: Command, context: Context): void {
  const rotate = endpoints
    .command("rotate-secret")
    .description("Rotate the signing secret and show the new one, once")
    .argument("<id>", "ID of the webhook endpoint", objectId)
    .addOption(
      new Option("--overlap <duration>", "How long deliveries are also signed with the old secret, up to 7d")
        .argParser(duration(0, LIMITS.maxSecretOverlapSeconds))
        .default(LIMITS.secretOverlapSecondsDefault, "1d"),
    )
    .option("--yes", "Skip the confirmation in live mode when --overlap is 0s");
  addIdempotencyKey(rotate).action((id: string, flags: RotateFlags) => runRotate(id, flags, context));
  addExamples(addFields(rotate, ENDPOINTS.view), [
    `service endpoints rotate-secret ${ENDPOINTS.exampleId}`,
    `service endpoints rotate-secret ${ENDPOINTS.exampleId} --overlap 2h --json --jq .secret`,
  ]);
}

async function runRotate(id: string, { overlap, yes, idempotencyKey }: RotateFlags, context: Context): Promise<void> {
  const { output } = context;
  rejectQuiet(context, "webhook_endpoint");
  if (overlap === 0) {
    await confirmDestruction(context, {
      id,
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

interface PingFlags {
  event?: EventType;
  idempotencyKey?: string;
}

function registerPing(endpoints: Command, context: Context): void {
  const ping = endpoints
    .command("ping")
    .description("Send a webhook_endpoint.ping event to this endpoint only, or a sample of another type (sandbox)")
    .argument("<id>", "ID of the webhook endpoint", objectId)
    .addOption(new Option("--event <type>", "Type of the event, such as order.completed").argParser(parseEventType));
  addIdempotencyKey(ping).action(async (id: string, { event: type, idempotencyKey }: PingFlags) => {
    const body = type === undefined ? {} : { type };
    const event = await callVerb<Event>(context, ENDPOINTS, { id, verb: "ping", body, idempotencyKey });
    context.output.success(`Sent ${event.type} ${event.id} to ${id}`);
    await context.output.object(event, EVENTS.view);
    context.output.note(shellCommand`\nSee the response:\n  service deliveries list --event ${event.id}`);
  });
  addExamples(addFields(ping, EVENTS.view), [
    `service endpoints ping ${ENDPOINTS.exampleId}`,
    `service endpoints ping ${ENDPOINTS.exampleId} --event order.completed`,
  ]);
}

import { type Command, Option } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import { LIMITS } from "../../../contract/limits.ts";
import type { SecretRotate, WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { objectId } from "../../arguments/object-id.ts";
import { formatSpan } from "../../terminal/time.ts";
import { confirmDestruction } from "../resource/confirm-destruction.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { rejectQuiet } from "../resource/show-secret.ts";
import { ENDPOINT_WITH_SECRET, ENDPOINTS, NEW_SECRET } from "./view.ts";

interface Flags {
  /** Seconds. */
  overlap: number;
  yes?: true;
  idempotencyKey?: string;
}

export function registerRotateSecret(endpoints: Command, context: Context): void {
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
  addIdempotencyKey(rotate).action((id: string, flags: Flags) => runRotate(id, flags, context));
  addExamples(addFields(rotate, ENDPOINTS.view), [
    `service endpoints rotate-secret ${ENDPOINTS.exampleId}`,
    `service endpoints rotate-secret ${ENDPOINTS.exampleId} --overlap 2h --json --jq .secret`,
  ]);
}

async function runRotate(id: string, { overlap, yes, idempotencyKey }: Flags, context: Context): Promise<void> {
  const { output } = context;
  rejectQuiet(context, NEW_SECRET);
  if (overlap === 0) {
    await confirmDestruction(context, {
      id,
      consequence: `The old secret of ${id} will stop working immediately`,
      yes,
    });
  }
  const client = await context.client();
  const { body } = await client.request<WebhookEndpoint>({
    method: "POST",
    path: ENDPOINTS.path + apiPath`/${id}/rotate_secret`,
    body: { overlap_seconds: overlap } satisfies SecretRotate,
    idempotencyKey,
  });
  output.success(`Rotated the secret of webhook endpoint ${id}`);
  await output.object(body, ENDPOINT_WITH_SECRET);
  output.note(
    `\nThe secret is shown only once: store it in your receiver now.\n${
      overlap === 0
        ? "Deliveries are now signed with the new secret only."
        : `For ${formatSpan(overlap)}, deliveries are signed with both the old and the new secret.`
    }`,
  );
}

import { Type } from "typebox";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import { closed } from "../../../contract/schemas/fields.ts";
import { probeAt } from "../../../receiver-check/observer.ts";
import { CHECK_COUNT } from "../../../receiver-check/run.ts";
import { isLoopback } from "../../../network/connect-options.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { clockOf, parseAddress, performCheck, samplePayload } from "../../receivers/check.ts";
import { SCHEME_NAMES, schemeNamed } from "../../receivers/scheme.ts";
import { secretsIfGiven } from "../../receivers/secrets.ts";
import { ownTool, type Tool } from "../tool.ts";

/** Returns the tools that send requests to this machine, which only a command started by its user may offer. */
export const receiverTools = (context: Context): readonly Tool[] => [
  ownTool({
    name: "check_receiver",
    group: "receivers",
    description:
      "Grade a webhook receiver on this machine: send deliveries that it must accept and deliveries that it must reject. Each check reports its rule, what was sent and seen, and for a failure an explanation and a fix. The deliveries are synthetic and do not involve the platform.",
    scopes: [],
    effect: "changes",
    output: Type.Object({
      object: Type.Literal("receiver_check"),
      grade: Type.String(),
      passed: Type.Boolean(),
    }),
    input: closed({
      url: Type.String({ description: "Webhook URL, such as localhost:3000/webhooks" }),
      secret: Type.Optional(
        Type.String({ minLength: 1, description: "Signing secret of the receiver (default: SERVICE_WEBHOOK_SECRET)" }),
      ),
      previous_secret: Type.Optional(Type.String({ minLength: 1, description: "Previous secret, during a rotation" })),
      probe: Type.Optional(
        Type.String({
          description: "URL that returns the number of events the receiver has processed, to detect duplicates",
        }),
      ),
      event: Type.Optional(Type.Enum([...EVENT_TYPES], { description: "Event type that the receiver processes" })),
      scheme: Type.Optional(
        Type.String({
          description: `Provider whose deliveries the receiver gets: ${SCHEME_NAMES.join(", ")}, or one of service.yaml (default: service)`,
        }),
      ),
      payload: Type.Optional(
        Type.String({
          description:
            "Body of one delivery of the provider as text; each delivery is a copy with its own ID (default: a sample of the provider)",
        }),
      ),
    }),
    async run(
      { url, secret, previous_secret: previous, probe, event = "order.completed", scheme: name = "service", payload },
      { progress },
    ) {
      const scheme = await schemeNamed(name, context);
      const given = [secret, previous].filter((text) => text !== undefined);
      const secrets = await secretsIfGiven({ secret: given }, context);
      if (secrets === undefined) {
        throw new UsageError("secret is required if SERVICE_WEBHOOK_SECRET is not set", {
          code: "invalid_arguments",
        });
      }
      const probeUrl = probe === undefined ? undefined : onThisMachine(probe, "probe");
      let done = 0;
      return await performCheck(
        {
          url: onThisMachine(url, "url"),
          scheme,
          payload: payload === undefined ? samplePayload(name, scheme, context)?.bytes : Buffer.from(payload),
          secrets,
          eventType: event,
          observer:
            probeUrl === undefined ? undefined : probeAt(probeUrl, { clock: clockOf(context), signal: context.signal }),
          waitSeconds: 0,
          skipVerify: true,
          onResult: ({ title }) => progress(++done, CHECK_COUNT, title),
        },
        context,
      );
    },
  }),
];

/** Prompts can influence the arguments, so they must not reach other machines through this one. */
function onThisMachine(text: string, name: string): URL {
  const address = parseAddress(text, name);
  if (isLoopback(address.hostname)) return address;
  throw new UsageError(`${name}: ${address.hostname} is not on this machine`, {
    hint: "To check a receiver elsewhere, run: service webhooks check URL",
    code: "invalid_arguments",
  });
}

import { memberNamesOf } from "../../client/response-check.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import type { Column, ResourceView } from "../terminal/view.ts";
import { ageOf, CREATED, CREATED_AT, ENVIRONMENT, fieldColumns, ID, timeWithAge } from "./columns.ts";
import { withSecret } from "./show-secret.ts";
import { resourceFor } from "./resource.ts";

const DAY_MILLISECONDS = 86_400_000;
const ROTATE_IT = ", rotate it";

const DISABLED: Column<WebhookEndpoint> = {
  label: "Disabled",
  text: ({ disabled_reason: reason, disabled_at: at }) => {
    if (at === null) return "";
    return reason === "gone" ? `${at}  (it responded with 410 Gone)` : at;
  },
};
const FAILING: Column<WebhookEndpoint> = {
  label: "Failing since",
  text: ({ health }) => health.failing_since ?? "",
  style: "bad",
};
const EVENTS: Column<WebhookEndpoint> = {
  label: "Events",
  text: ({ events }, { terminal }) => events.join(terminal ? ", " : ","),
};

const { status: STATUS, url, ...FIELDS } = fieldColumns<WebhookEndpoint>("webhook_endpoint", { events: EVENTS });
const URL: Column<WebhookEndpoint> = { ...url!, shrinks: "middle" };

const secretCreated = (write: typeof ageOf): Column<WebhookEndpoint> => ({
  label: "Secret created",
  text: (endpoint, view) =>
    write(endpoint.secret_created, view) + (view.terminal && isSecretOld(endpoint, view.now) ? ROTATE_IT : ""),
  styleOf: (text) => (text.includes(ROTATE_IT) ? "warn" : undefined),
});
const OLD_SECRET: Column<WebhookEndpoint> = {
  label: "Old secret until",
  text: ({ previous_secret_until: until }) => until ?? "",
};

/** Secrets should be rotated every quarter. */
export function isSecretOld({ secret_created }: WebhookEndpoint, now: number): boolean {
  return now - Date.parse(secret_created) > LIMITS.secretAgeDays * DAY_MILLISECONDS;
}

export const ENDPOINTS = resourceFor<WebhookEndpoint>("webhook_endpoint", {
  fields: memberNamesOf("WebhookEndpoint"),
  columns: [
    ID,
    STATUS!,
    URL,
    { ...EVENTS, shrinks: true, optional: true },
    { ...secretCreated(ageOf), optional: true },
    { ...FIELDS["description"]!, shrinks: true, optional: true },
    CREATED,
  ],
  details: [
    ID,
    STATUS!,
    DISABLED,
    FAILING,
    URL,
    ...Object.values(FIELDS),
    secretCreated(timeWithAge),
    OLD_SECRET,
    ENVIRONMENT,
    CREATED_AT,
  ],
});

/** The response that contains the secret. */
export const ENDPOINT_WITH_SECRET: ResourceView<WebhookEndpoint> = {
  ...withSecret("webhook_endpoint", ENDPOINTS.view),
  details: [
    ID,
    STATUS!,
    URL,
    ...Object.values(FIELDS),
    ENVIRONMENT,
    CREATED_AT,
    { label: "Secret", text: ({ secret }) => secret ?? "", style: "strong" },
  ],
};

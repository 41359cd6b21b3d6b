import { memberNamesOf } from "../../client/response-check.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import type { Styles } from "../terminal/styles.ts";
import type { Column, ViewContext } from "../terminal/view.ts";
import { ageOf, CREATED, CREATED_AT, ENVIRONMENT, ID, statusColumn, timeWithAge } from "./columns.ts";
import { locationOf, nounsFor, type Resource } from "./resource.ts";

const DAY_MILLISECONDS = 86_400_000;
const ROTATE_IT = ", rotate it";

const STATUS = statusColumn("webhook_endpoint");
const DISABLED: Column<WebhookEndpoint> = {
  label: "Disabled",
  text: ({ disabled_reason: reason, disabled_at: at }) => {
    if (at === null) return "";
    return `${at}  (${reason === "gone" ? "it responded with 410 Gone" : "by a user"})`;
  },
};
const FAILING: Column<WebhookEndpoint> = {
  label: "Failing since",
  text: ({ health }) => health.failing_since ?? "",
  style: (text, styles) => styles.bad(text),
};
const URL: Column<WebhookEndpoint> = { label: "URL", text: ({ url }) => url, shrinks: "middle" };
const EVENTS: Column<WebhookEndpoint> = {
  label: "Events",
  text: ({ events }, { terminal }) => events.join(terminal ? ", " : ","),
};
const DESCRIPTION: Column<WebhookEndpoint> = { label: "Description", text: ({ description }) => description ?? "" };
const HEADERS: Column<WebhookEndpoint> = { label: "Headers", text: ({ header_names: names }) => names.join(", ") };

const SECRET_CREATED: Column<WebhookEndpoint> = {
  label: "Secret created",
  text: (endpoint, view) => ageOf(endpoint.secret_created, view) + adviceOn(endpoint, view),
  style: styleOfAge,
};
const SECRET_CREATED_AT: Column<WebhookEndpoint> = {
  label: "Secret created",
  text: (endpoint, view) => timeWithAge(endpoint.secret_created, view) + adviceOn(endpoint, view),
  style: styleOfAge,
};

/** Secrets should be rotated every quarter. */
export function isSecretOld({ secret_created }: WebhookEndpoint, now: number): boolean {
  return now - Date.parse(secret_created) > LIMITS.secretAgeDays * DAY_MILLISECONDS;
}

function adviceOn(endpoint: WebhookEndpoint, { terminal, now }: ViewContext): string {
  return terminal && isSecretOld(endpoint, now) ? ROTATE_IT : "";
}

function styleOfAge(text: string, styles: Styles): string {
  return text.includes(ROTATE_IT) ? styles.warn(text) : text;
}

export const ENDPOINTS: Resource<WebhookEndpoint> = {
  ...locationOf("webhook_endpoint"),
  view: {
    ...nounsFor("webhook_endpoint"),
    fields: memberNamesOf("WebhookEndpoint"),
    columns: [
      ID,
      STATUS,
      URL,
      { ...EVENTS, shrinks: true, optional: true },
      { ...SECRET_CREATED, optional: true },
      { ...DESCRIPTION, shrinks: true, optional: true },
      CREATED,
    ],
    details: [
      ID,
      STATUS,
      DISABLED,
      FAILING,
      URL,
      EVENTS,
      DESCRIPTION,
      HEADERS,
      SECRET_CREATED_AT,
      ENVIRONMENT,
      CREATED_AT,
    ],
  },
};

/** The response that contains the secret. */
export const ENDPOINT_WITH_SECRET: Resource<WebhookEndpoint>["view"] = {
  ...ENDPOINTS.view,
  details: [
    ID,
    STATUS,
    URL,
    EVENTS,
    DESCRIPTION,
    HEADERS,
    ENVIRONMENT,
    CREATED_AT,
    { label: "Secret", text: ({ secret }) => secret ?? "", style: (text, styles) => styles.strong(text) },
  ],
};

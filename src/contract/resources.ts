import type { FieldTypeName } from "./field-types.ts";

const AMOUNT = {
  type: "amount",
  label: "Amount",
  about: "Amount in the currency's minor unit: 1999 is 19.99 EUR",
  question: "Amount in minor units (1999 = 19.99 EUR, 1999 JPY)",
  required: true,
  inList: true,
  examples: [1999],
} as const satisfies Field;

const CURRENCY = {
  type: "currency",
  label: "Currency",
  about: "Currency code (ISO 4217), such as EUR; the API takes capitals only",
  required: true,
  inList: true,
  examples: ["EUR"],
} as const satisfies Field;

const STATUS = {
  type: "status",
  label: "Status",
  about: "Current status",
  filter: true,
  inList: true,
} as const satisfies Field;

const METADATA = {
  type: "map",
  label: "Metadata",
  about: "Metadata pair, at most 50 (repeatable)",
  change: "Metadata pair to set; key= removes a pair (repeatable)",
  described: { both: "Your own string pairs" },
  examples: ["plan=team"],
} as const satisfies Field;

/**
 * One entry per resource of the API: IDs, scopes, event types, CLI commands, dashboard pages and OpenAPI tags are derived
 * from it. Plain data, because every command loads it and the dashboard sends it to browsers. CONTRIBUTING.md describes
 * how to add a resource or a field.
 */
export const RESOURCES = {
  customer: {
    prefix: "cus_",
    plural: "customers",
    label: "Customer",
    labels: "Customers",
    about: "People and companies that buy from the account.",
    scoped: true,
    events: ["created", "updated", "deleted"],
    fields: {
      email: {
        type: "email",
        label: "Email",
        about: "Email address, unique per environment, ignoring case",
        question: "Email address",
        required: true,
        unique: true,
        filter: true,
        inList: true,
        examples: ["ada@example.com"],
      },
      name: { type: "text", label: "Name", about: "Full name", inList: true, examples: ["Ada Lovelace", "Ada King"] },
      phone: {
        type: "phone",
        label: "Phone",
        about: "Phone number (E.164), such as +442071838750",
        examples: ["+442071838750"],
      },
      metadata: METADATA,
    },
    updatable: true,
    deletable: true,
    command: { name: "customers", summary: "Create, find, update and delete customers" },
    page: { name: "customers", section: "Business" },
  },
  order: {
    prefix: "ord_",
    plural: "orders",
    label: "Order",
    labels: "Orders",
    about: "Orders of customers. A pending order is completed or canceled once.",
    scoped: true,
    events: ["created", "completed", "canceled"],
    statuses: { pending: "plain", completed: "good", canceled: "dim" },
    fields: {
      amount: AMOUNT,
      currency: CURRENCY,
      status: STATUS,
      customer: {
        type: "id",
        of: "customer",
        label: "Customer",
        about: "ID of the customer",
        described: {
          request: "ID of an existing customer; null for none",
          response: "ID of the customer; null for none",
        },
        filter: true,
        inList: true,
      },
      metadata: METADATA,
    },
    actions: {
      complete: { to: "completed", about: "Complete a pending order", label: "Complete order" },
      cancel: { to: "canceled", about: "Cancel a pending order", label: "Cancel order" },
    },
    command: { name: "orders", summary: "Create, complete and cancel orders" },
    page: { name: "orders", section: "Business" },
  },
  payment: {
    prefix: "pay_",
    plural: "payments",
    label: "Payment",
    labels: "Payments",
    about: "Payments of orders. A pending payment succeeds or fails once.",
    scoped: true,
    events: ["created", "succeeded", "failed"],
    statuses: { pending: "plain", succeeded: "good", failed: "bad" },
    fields: {
      amount: AMOUNT,
      currency: CURRENCY,
      status: STATUS,
      order: {
        type: "id",
        of: "order",
        label: "Order",
        about: "ID of the order to pay",
        described: { request: "ID of an existing order; null for none", response: "ID of the order; null for none" },
        stored: "order_id",
        filter: true,
        inList: true,
      },
      failure_code: {
        type: "code",
        label: "Failure code",
        about: "Reason of the failure, in snake_case",
        described: {
          request: "Reason of the failure, in snake_case (default: card_declined)",
          response: "Reason of the failure, in snake_case; null unless the payment failed",
        },
        output: true,
        inList: true,
      },
      metadata: METADATA,
    },
    actions: {
      succeed: { to: "succeeded", about: "Mark a pending payment as succeeded", label: "Mark as succeeded" },
      fail: {
        to: "failed",
        about: "Mark a pending payment as failed",
        label: "Mark as failed",
        takes: { failure_code: "card_declined" },
      },
    },
    command: { name: "payments", summary: "Create payments and mark them as succeeded or failed" },
    page: { name: "payments", section: "Business" },
  },
  event: {
    prefix: "evt_",
    plural: "events",
    label: "Event",
    labels: "Events",
    about: "Changes to resources. Events are delivered to webhook endpoints and can be replayed.",
    scoped: true,
    command: { name: "events" },
    page: { name: "events", section: "Activity" },
  },
  webhook_endpoint: {
    prefix: "we_",
    plural: "webhook_endpoints",
    label: "Webhook endpoint",
    labels: "Webhook endpoints",
    about: "URLs that receive events, and their signing secrets.",
    scoped: true,
    writeWarning: "It can send a copy of every event to any URL.",
    events: ["ping", "failing", "recovered", "disabled"],
    statuses: { enabled: "good", disabled: "dim" },
    custom: true,
    fields: {
      url: {
        type: "url",
        label: "URL",
        about: "Public https URL to deliver to",
        question: "Endpoint URL (public https)",
        described: {
          request: "An https URL with a public address, without credentials or fragment",
          response: "URL that events are sent to",
        },
        required: true,
        examples: ["https://example.com/webhooks"],
      },
      events: {
        type: "list",
        of: "subscription",
        label: "Events",
        about: "Event types, separated by commas: 'order.*,customer.created', or '*'",
        question: "Event types",
        change: "New event types; replace the existing ones",
        described: { both: "Event types to send, also with wildcards: `order.*`, or `*` for all" },
        required: true,
      },
      description: {
        type: "note",
        label: "Description",
        about: "Description",
        hint: "Its name in lists and explanations, such as Billing. Without one, it is called by its URL.",
        described: { both: "What the endpoint is for" },
      },
      headers: {
        type: "map",
        of: "header",
        secret: "header_names",
        label: "Headers",
        about: "Header of every attempt: 'Name: value', or @file with one per line (repeatable)",
        change: "Header to set: 'Name: value', or to remove: 'Name:'; or @file (repeatable)",
        flag: "header",
        hint: "One per line. Later, only names are shown.",
        described: {
          request:
            "Sent with every attempt. Not: Service-*, Content-*, Host, User-Agent, and headers of the connection",
          response: "Names of the headers that every attempt sends. Their values are not shown",
        },
        examples: ["X-Api-Key: 3f1d0c"],
      },
      status: {
        type: "status",
        label: "Status",
        about: "Current status",
        described: { both: "A `disabled` endpoint gets no deliveries" },
      },
    },
    secret: { name: "secret", label: "secret" },
    deletable: true,
    command: { name: "endpoints" },
    page: { name: "endpoints", section: "Developers", label: "Endpoints" },
  },
  delivery: {
    prefix: "dlv_",
    plural: "deliveries",
    label: "Delivery",
    labels: "Deliveries",
    about: "Deliveries of events to endpoints, with every attempt.",
    scoped: true,
    statuses: { pending: "plain", succeeded: "good", failed: "bad", canceled: "dim" },
    command: { name: "deliveries" },
    page: { name: "deliveries", section: "Activity" },
  },
  bulk_operation: {
    prefix: "blk_",
    plural: "bulk_operations",
    label: "Bulk operation",
    labels: "Bulk operations",
    about: "Retries and replays of many objects in the background.",
    scopedBy: "deliveries",
    statuses: { running: "plain", succeeded: "good", canceled: "dim" },
  },
  api_key: {
    prefix: "key_",
    plural: "api_keys",
    label: "API key",
    labels: "API keys",
    about: "Credentials of servers. A key never grants more than its creator has.",
    scoped: true,
    writeWarning: "It can create API keys, which stay valid after you revoke this access.",
    custom: true,
    fields: {
      name: {
        type: "text",
        label: "Name",
        about: "Name, such as the service that uses the key",
        described: { both: "Name, such as that of the service that uses the key" },
        examples: ["reporting"],
      },
      scopes: {
        type: "list",
        of: "scope",
        label: "Scopes",
        about: "Scopes, separated by commas: customers:read (repeatable)",
        change: "New scopes, separated by commas; replace the existing ones (repeatable)",
        described: {
          request: "What the key may do (default: all that its creator may do)",
          response: "What the key may do",
        },
        flag: "scope",
      },
      ip_allowlist: {
        type: "list",
        of: "cidr",
        label: "IP allowlist",
        about: "Allowed addresses in CIDR form, separated by commas (repeatable)",
        change: "New allowed addresses in CIDR form; any allows every address (repeatable)",
        flag: "ip-allow",
        described: { both: "Addresses that may use the key, in CIDR form; empty for all" },
        hint: "CIDR ranges, such as 203.0.113.0/24. Empty: any address.",
      },
      expires_at: {
        type: "expiry",
        label: "Expires",
        about: "Time until the key expires, such as 90d",
        change: "Time from now until the key expires, such as 90d",
        flag: "expires-in",
        described: { both: "When it expires; null for never" },
        hint: "In your local time. Empty: never.",
      },
    },
    secret: { name: "key", label: "secret key" },
    command: { name: "keys" },
    page: { name: "keys", section: "Developers" },
  },
  oauth_app: {
    prefix: "app_",
    plural: "oauth_apps",
    label: "OAuth app",
    labels: "OAuth apps",
    about: "Apps that act for users, through the authorization code flow with PKCE.",
    scoped: true,
    writeWarning: "It can change where your own apps send their users.",
    custom: true,
    fields: {
      name: {
        type: "text",
        label: "Name",
        about: "Name shown on the consent page",
        hint: "Shown to users on the consent page",
        described: { both: "Name, which users see on the consent page" },
        required: true,
        examples: ["Reports"],
      },
      redirect_uris: {
        type: "list",
        of: "redirect-uri",
        label: "Redirect URIs",
        about: "Redirect URI, matched exactly except for the port of 127.0.0.1 (repeatable)",
        change: "New redirect URI; replaces all existing ones (repeatable)",
        required: true,
        flag: "redirect-uri",
        hint: "One per line: https, or http to a loopback address",
        described: { both: "Where users return to: https, or http to a loopback address, whose port may differ" },
        examples: ["https://app.example.com/callback"],
      },
      public: {
        type: "boolean",
        label: "Public",
        about: "Public app without a client secret, for phones and browsers (PKCE only)",
        described: { both: "True for apps that cannot keep a secret" },
        fixed: true,
      },
    },
    secret: { name: "client_secret", label: "client secret" },
    deletable: true,
    command: { name: "apps" },
    page: { name: "apps", section: "Developers" },
  },
  test_clock: {
    plural: "test_clock",
    label: "Test clock",
    labels: "Test clock",
    about: "The sandbox's time, which you can advance to test retries and expiry.",
    scopedBy: "deliveries",
    sandboxOnly: true,
    page: { name: "clock", section: "Developers", label: "Sandbox tools" },
  },
  sandbox: {
    plural: "sandbox",
    label: "Sandbox",
    labels: "Sandbox",
    about: "The test environment, which you can reset or restore from a snapshot.",
    sandboxOnly: true,
    scoped: true,
    writeWarning: "It can delete everything in the sandbox.",
  },
  fault: {
    prefix: "flt_",
    plural: "faults",
    label: "Fault",
    labels: "Faults",
    about: "Errors, delays and lost responses that requests to the sandbox get, to test clients.",
    scopedBy: "sandbox",
    sandboxOnly: true,
  },
  request_log: {
    plural: "request_logs",
    label: "Request log",
    labels: "Request logs",
    about: "API requests of the last 7 days, without secrets.",
    scoped: true,
    page: { name: "logs", section: "Activity", label: "Request log" },
  },
  leak_report: {
    plural: "leaked_keys",
    label: "Leak report",
    labels: "Leak reports",
    about: "Reports by code-hosting partners of credentials found in public places.",
  },
  statistics: {
    plural: "statistics",
    label: "Statistics",
    labels: "Statistics",
    about: "Events, attempts, latencies and failures per minute.",
    scopedBy: "deliveries",
  },
  user: {
    prefix: "usr_",
    plural: "users",
    label: "User",
    labels: "Users",
    about: "Users who can sign in to the account's dashboard.",
    page: { name: "people", section: "Developers", label: "Team & access" },
  },
  session: {
    prefix: "ses_",
    plural: "sessions",
    label: "Session",
    labels: "Sessions",
    about: "Browsers in which a user is signed in.",
  },
  oauth_grant: {
    prefix: "gra_",
    plural: "oauth_grants",
    label: "OAuth grant",
    labels: "OAuth grants",
    about: "Permissions that a user has granted to apps.",
  },
  identity: {
    plural: "me",
    label: "Identity",
    labels: "Identity",
    about: "The account, the user and the scopes of a credential.",
  },
  version: {
    plural: "versions",
    label: "Version",
    labels: "Versions",
    about: "The dated versions of the API.",
  },
} as const satisfies Record<string, Resource>;

/** The entry of a resource. Its key is the resource's `object` in JSON. */
export interface Resource {
  /** First characters of its IDs. */
  prefix?: string;
  /** The segment of its path after `/v1/`, and the resource in the names of its scopes. */
  plural: string;
  /** Singular and plural in sentence case. */
  label: string;
  labels: string;
  /** A sentence for the OpenAPI document. */
  about: string;
  /** True if the scopes `<plural>:read` and `<plural>:write` exist. */
  scoped?: true;
  /** Plural of the resource whose scopes its operations need. They need none if it is neither scoped nor has this. */
  scopedBy?: string;
  /** True if all of its operations exist in the sandbox only. */
  sandboxOnly?: true;
  /** Warning on the consent page of an app that requests `<plural>:write`. */
  writeWarning?: string;
  /** Event types without the resource: `created` for `customer.created`. */
  events?: readonly string[];
  /** Statuses, the initial one first, each with its highlighting. */
  statuses?: Readonly<Record<string, StatusTone>>;
  /**
   * Fields in the order of the JSON, without the fields that every object has: id, object, livemode and created.
   */
  fields?: Readonly<Record<string, Field>>;
  /** True if the resource has its own code in each layer. Otherwise its fields describe all of it. */
  custom?: true;
  /** The member of its JSON that is shown once, and its name in sentences. */
  secret?: { name: string; label: string };
  /** True if PATCH can change every input field and merges maps. */
  updatable?: true;
  deletable?: true;
  /** Verbs that move a pending object to a final status: `POST /v1/<plural>/{id}/<verb>`. */
  actions?: Readonly<Record<string, Action>>;
  /** The CLI command; with a summary if it has the shared verbs only. */
  command?: { name: string; summary?: string };
  /**
   * The dashboard page: its name in the URL, its section of the menu, and its label there if it differs from `labels`.
   */
  page?: { name: string; section: "Activity" | "Business" | "Developers"; label?: string };
}

export type StatusTone = "plain" | "good" | "bad" | "dim";

/** A field of a resource. Without `required`, its value may be null. */
export interface Field {
  type: FieldTypeName;
  label: string;
  /** A phrase for help texts. */
  about: string;
  /** The phrase of a prompt, if it is shorter. */
  question?: string;
  /** The phrase for an update, if it is not the new label. */
  change?: string;
  /** What its input in the dashboard takes, unless the label says it. */
  hint?: string;
  /** Its descriptions in the API reference, if the phrase is for the flags only: of an entry with `custom`. */
  described?: { request?: string; response?: string; both?: string };
  /** For type `id`: the kind of resource, which must exist. For types `list` and `map`: the format of the values. */
  of?: string;
  /** The values of the type `choice`. */
  choices?: readonly string[];
  /** The least and the greatest value of requests, for types `number` and `amount`. */
  min?: number;
  max?: number;
  /** The CLI's flag, if it is not the field's name. */
  flag?: string;
  /** True if it cannot be updated. */
  fixed?: true;
  required?: true;
  /** Text that is unique per environment, ignoring case. A second column, `<name>_key`, has it in lower case. */
  unique?: true;
  /**
   * For type `map` of an entry with `custom`: the values are secret. Responses have the names only, in the member of this
   * name, and the database a column of this name besides the sealed values.
   */
  secret?: string;
  /** True if only the platform sets it. */
  output?: true;
  /** Whether lists can be filtered by it. */
  filter?: true;
  /** True if lists show it as a column. */
  inList?: true;
  /** The column of the database, if its name differs from the field's. */
  stored?: string;
  /** Values for documentation and triggered events. An update changes the first value to the second. */
  examples?: readonly (string | number)[];
}

export interface Action {
  /** The final status. */
  to: string;
  about: string;
  /** Text of its button. */
  label: string;
  /** Optional fields of the request, with their defaults. */
  takes?: Readonly<Record<string, string>>;
}

type Resources = typeof RESOURCES;
export type ResourceKind = keyof Resources;

/** Resources whose entry has a member. */
export type KindWith<Member extends keyof Resource> = {
  [Kind in ResourceKind]: Resources[Kind] extends Record<Member, unknown> ? Kind : never;
}[ResourceKind];

export type StatusOf<Kind extends KindWith<"statuses">> = keyof Resources[Kind]["statuses"];

/** A resource that its fields describe, from its table to its page. */
export type ObjectKind = Exclude<KindWith<"fields">, KindWith<"custom">>;

export const OBJECT_KINDS = kindsWith("fields").filter((kind) => !("custom" in RESOURCES[kind])) as ObjectKind[];

/** Returns the entry of a resource without the literal types. */
export function resourceOf(kind: ResourceKind): Resource {
  return RESOURCES[kind];
}

/** Returns the resources whose entry has a member, in the order of the table. */
export function kindsWith<Member extends keyof Resource>(member: Member): KindWith<Member>[] {
  return (Object.keys(RESOURCES) as ResourceKind[]).filter((kind) => member in RESOURCES[kind]) as KindWith<Member>[];
}

/** Returns the statuses of a resource, the initial one first. */
export function statusesOf<Kind extends KindWith<"statuses">>(kind: Kind): StatusOf<Kind>[] {
  return Object.keys(RESOURCES[kind].statuses) as StatusOf<Kind>[];
}

/** Returns the path of a resource's list: `/v1/customers`. */
export function pathOf(kind: ResourceKind): string {
  return `/v1/${RESOURCES[kind].plural}`;
}

/** Returns the resource that a path such as `/v1/customers/{id}` belongs to. Throws if there is none. */
export function kindOfPath(path: string): ResourceKind {
  const [, , plural] = path.split("/");
  const kind = (Object.keys(RESOURCES) as ResourceKind[]).find((known) => RESOURCES[known].plural === plural);
  if (kind === undefined) throw new Error(`${path} belongs to no resource: add it to contract/resources.ts`);
  return kind;
}

/** Returns the fields that a request to create the object takes, except metadata. */
export function inputFieldsOf(kind: KindWith<"fields">): [name: string, field: Field][] {
  return Object.entries<Field>(RESOURCES[kind].fields).filter(([, { type, output }]) => type !== "status" && !output);
}

/** Returns the fields in the order in which people see them: the status first. */
export function shownFieldsOf(kind: KindWith<"fields">): [name: string, field: Field][] {
  const isStatus = ({ type }: Field) => Number(type === "status");
  return Object.entries<Field>(RESOURCES[kind].fields).sort(([, one], [, other]) => isStatus(other) - isStatus(one));
}

/** Returns the values of a field that has only a few. */
export function choicesOf(kind: ResourceKind, { type, choices }: Field): readonly string[] | undefined {
  return type === "status" ? Object.keys(resourceOf(kind).statuses ?? {}) : choices;
}

/** Returns the error code of a request with the value of a unique field that another object has. */
export function takenCodeOf({ type }: Field): "email_taken" | "already_exists" {
  return type === "email" ? "email_taken" : "already_exists";
}

/** Returns the value of a field in documentation and triggered events, unless it is an ID. */
export function exampleOf({ examples = [], choices = [] }: Field): string | number | undefined {
  return examples[0] ?? choices[0];
}

/** Returns the noun of a sentence: `webhook endpoint`, `API key`. */
export function nounOf(kind: ResourceKind): string {
  return lowerFirst(RESOURCES[kind].label);
}

/** Returns the plural noun of a sentence: `webhook endpoints`, `API keys`. */
export function nounsOf(kind: ResourceKind): string {
  return lowerFirst(RESOURCES[kind].labels);
}

/** Returns a noun with its article: `an order`, `a user`. */
export function withArticle(noun: string): string {
  return `${/^(?!us|url)[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** Returns a label as it is written inside a sentence. Abbreviations stay as they are. */
export function lowerFirst(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

import { PROJECT_DEFAULTS } from "./file.ts";
import type { Scheme } from "../../webhooks/schemes.ts";

/** As `--forward-to` takes it. A port is a number in YAML. */
type Target = string | number;

/** The content of a valid project file, without defaults. Paths are relative to its folder. */
export interface Project {
  platform?: { url?: string; port?: number | "auto"; database?: string; private_targets?: boolean };
  forward?: { to?: Target; routes?: Record<string, Target>; events?: string[]; ordered?: boolean; retries?: number };
  env?: { file?: string; secret?: string; key?: string; url?: string };
  seed?: string;
  reseed?: boolean;
  run?: string;
  schemes?: Record<string, Omit<Scheme, "name"> & { name?: string }>;
}

export type TypeName = "object" | "array" | "string" | "integer" | "boolean";

/** The subset of JSON Schema that the project file uses. */
export interface Schema {
  type: TypeName | readonly TypeName[];
  description?: string;
  default?: string | number | boolean;
  examples?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  propertyNames?: { format: "subscription" | "scheme-name" | "header-name" };
  patternProperties?: Readonly<Record<string, object>>;
  additionalProperties?: false | Schema;
  items?: Schema;
  minItems?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  enum?: readonly string[];
  /** Formats that `read.ts` validates with the rules of the flag that takes the same value. */
  format?: "port" | "target" | "subscriptions" | "base-url" | "header-name" | "header-value" | "url";
}

const variable = (description: string, standard: string): Schema => ({
  type: "string",
  description,
  default: standard,
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
});

const headerName = (description: string): Schema => ({ type: "string", description, format: "header-name" });

const ENCODINGS = ["hex", "base64"];

/** Describes `Scheme` of the webhooks library. */
const SCHEME: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["signed", "signature"],
  properties: {
    name: { type: "string", description: "Name of the provider, for messages", minLength: 1 },
    signed: {
      type: "string",
      description: "Template of what is signed, with {id}, {timestamp} and {body}",
      examples: ["{timestamp}.{body}"],
    },
    signature: {
      type: "object",
      additionalProperties: false,
      required: ["header", "encoding"],
      properties: {
        header: headerName("Header of the signature"),
        prefix: { type: "string", description: "What precedes a signature", format: "header-value" },
        encoding: { type: "string", description: "Encoding of a signature", enum: ENCODINGS },
        separator: {
          type: "string",
          description: "What separates several signatures; without it, the header contains one",
          minLength: 1,
          format: "header-value",
        },
      },
    },
    timestamp: {
      type: "object",
      description: "Where the time of the signature is",
      additionalProperties: false,
      properties: {
        header: headerName("Header of the time, in Unix seconds"),
        prefix: {
          type: "string",
          description: "Instead of header: prefix of the time in the header of the signature",
          minLength: 1,
          format: "header-value",
        },
        tolerance: { type: "integer", description: "Seconds that the time may differ from the clock", minimum: 1 },
        future: { type: "boolean", description: "Accept any time in the future", default: false },
      },
    },
    id: {
      type: "object",
      description: "Where the ID of a delivery is",
      additionalProperties: false,
      properties: {
        header: headerName("Header of the ID"),
        path: { type: "string", description: "Instead of header: path in the JSON body", minLength: 1 },
        prefix: {
          type: "string",
          description: "What each ID begins with; without it, IDs are UUIDs",
          format: "header-value",
        },
      },
    },
    timeout: {
      type: "integer",
      description: "Seconds that the provider waits for a response",
      default: 10,
      minimum: 1,
    },
    secret: {
      type: "object",
      description: "How the key is decoded from the secret; without it, the key is the secret in UTF-8",
      additionalProperties: false,
      required: ["encoding"],
      properties: {
        encoding: { type: "string", enum: ["base64"] },
        prefix: { type: "string", description: "What precedes the base64" },
      },
    },
    headers: {
      type: "object",
      description: "Other headers of each delivery",
      propertyNames: { format: "header-name" },
      additionalProperties: { type: "string", format: "header-value" },
    },
    docs: { type: "string", description: "The provider's page about verification", format: "url" },
  },
};

/** Describes the project file: for its validation, and for editors as `docs/service.schema.json`. */
export const PROJECT_SCHEMA: Schema = {
  type: "object",
  description: "Settings of `service dev`. `service listen` and `service trigger` also read this file.",
  additionalProperties: false,
  patternProperties: { "^x-": {} },
  properties: {
    platform: {
      type: "object",
      description: "The platform that `service dev` starts, or the URL of an existing one",
      additionalProperties: false,
      properties: {
        url: {
          type: "string",
          description: "URL of an existing platform, instead of port and database",
          format: "base-url",
          examples: ["https://sandbox.example.com"],
        },
        port: {
          type: ["integer", "string"],
          description:
            "Port of the platform that `service dev` starts; auto for a free one, which is then kept in .service",
          default: PROJECT_DEFAULTS.port,
          minimum: 1,
          maximum: 65_535,
          format: "port",
          examples: ["auto"],
        },
        database: {
          type: "string",
          description: "SQLite file of the platform that `service dev` starts",
          default: PROJECT_DEFAULTS.database,
          minLength: 1,
        },
        private_targets: {
          type: "boolean",
          description: "Allow endpoints on this machine and in private networks",
          default: false,
        },
      },
    },
    forward: {
      type: "object",
      description: "Where sandbox events are forwarded",
      additionalProperties: false,
      properties: {
        to: {
          type: ["string", "integer"],
          description: "Target of events that match no route",
          format: "target",
          examples: ["localhost:3000/webhooks"],
        },
        routes: {
          type: "object",
          description: "Targets for some event types; the first match is used",
          propertyNames: { format: "subscription" },
          additionalProperties: { type: ["string", "integer"], format: "target" },
          examples: [{ "order.*": "localhost:3000/orders" }],
        },
        events: {
          type: "array",
          description: "Event types and wildcards; ! excludes one",
          items: { type: "string", minLength: 1 },
          minItems: 1,
          format: "subscriptions",
          examples: [["order.*", "!order.created"]],
        },
        ordered: { type: "boolean", description: "Preserve event order per object", default: false },
        retries: {
          type: "integer",
          description: "Maximum number of retries of a failed forward",
          default: PROJECT_DEFAULTS.retries,
          minimum: 0,
          maximum: 100,
        },
      },
    },
    env: {
      type: "object",
      description: "Variables for the app, and the file that they are written to",
      additionalProperties: false,
      properties: {
        file: {
          type: "string",
          description: "File to write the variables to; other lines are preserved",
          minLength: 1,
          examples: [".env.local"],
        },
        secret: variable("Variable of the signing secret", PROJECT_DEFAULTS.secret),
        key: variable("Variable of the sandbox API key", PROJECT_DEFAULTS.key),
        url: variable("Variable of the API's base URL", PROJECT_DEFAULTS.url),
      },
    },
    seed: {
      type: "string",
      description: "Trigger fixture, sent once per database",
      minLength: 1,
      examples: ["fixtures/seed.yaml"],
    },
    reseed: {
      type: "boolean",
      description: "Whether `service dev` sends the seed again after a reset of the sandbox",
      default: false,
    },
    run: {
      type: "string",
      description: "Command that starts the app",
      minLength: 1,
      examples: ["npm run dev"],
    },
    schemes: {
      type: "object",
      description: "Signature schemes of other providers, for `service webhooks --scheme`",
      propertyNames: { format: "scheme-name" },
      additionalProperties: SCHEME,
    },
  },
};

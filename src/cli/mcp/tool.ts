import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { apiPath } from "../../client/base-url.ts";
import type { Client } from "../../client/http.ts";
import { LIMITS } from "../../contract/limits.ts";
import { type IdKind, ID_PREFIXES } from "../../contract/ids.ts";
import { type Operation, OPERATIONS } from "../../contract/operations.ts";
import { kindOfPath, nounOf, RESOURCES, type ResourceKind, withArticle } from "../../contract/resources.ts";
import { closed, idOf } from "../../contract/schemas/fields.ts";
import { Snapshot } from "../../contract/schemas/sandbox.ts";
import type { Scope } from "../../contract/scopes.ts";
import { UsageError } from "../errors.ts";

/** What tools need, whichever transport calls them. */
export interface ToolSession {
  client: Client;
  /** Aborted when the result of the call can no longer be sent. */
  signal: AbortSignal;
  /** Reports the progress of a call to a client that requested it. */
  progress: (done: number, total: number, message: string) => void;
  /** Unix milliseconds. */
  now: () => number;
  uuid: () => string;
  /** Returns text in which each command works in the shell of the server's user. */
  runnable: (text: string) => string;
}

type Arguments = Readonly<Record<string, unknown>>;

export interface Tool {
  /** snake_case. */
  name: string;
  /** The group by which a client can select it, such as `customers`. */
  group: string;
  description: string;
  /** Scopes of the credential: at least one of each inner list. */
  scopes: readonly (readonly Scope[])[];
  /** `removes` also changes, and cannot be undone. */
  effect: "reads" | "changes" | "removes";
  /** True if a repeated call with the same arguments has no further effect. Reads never have one. */
  idempotent?: boolean;
  input: TSchema;
  output: TSchema;
  /** Rejects with the error of an API call or a command. */
  run(input: Arguments, session: ToolSession): Promise<object>;
}

const KEY_PATTERN = `^[\\x21-\\x7e]{1,${LIMITS.idempotencyKeyLength}}$`;
const IDEMPOTENCY_KEY = Type.Optional(
  Type.String({
    pattern: KEY_PATTERN,
    description:
      "A repeated call with the same key has no further effect and returns the first result (default: a new key)",
  }),
);

/** Returns the tool of an operation, which also validates its arguments. Each POST has an Idempotency-Key. */
function toolOf(operation: Operation): Tool {
  const { name, method, path, scope, summary, query, body, response, effect, idempotent, tool, toolName } = operation;
  const item = path.includes("{id}") ? itemOf(kindOfPath(path)) : undefined;
  return {
    name: toolName ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    group: RESOURCES[kindOfPath(path)].plural,
    description: typeof tool === "string" ? tool : `${summary}.`,
    scopes: scope === null ? [] : [[scope]],
    effect: effect ?? (method === "GET" ? "reads" : method === "DELETE" ? "removes" : "changes"),
    idempotent: idempotent ?? (method === "PATCH" || method === "DELETE"),
    input: closed({
      ...(item === undefined ? {} : { [item.argument]: item.schema }),
      ...(query ?? body)?.properties,
      ...(method === "POST" ? { idempotency_key: IDEMPOTENCY_KEY } : {}),
    }),
    output: response,
    async run(input, { client }) {
      const members = { ...input };
      const idempotencyKey = method === "POST" ? textArgument("idempotency_key", members) : undefined;
      if (idempotencyKey !== undefined && !new RegExp(KEY_PATTERN).test(idempotencyKey)) {
        throw new UsageError(
          `idempotency_key must have 1 to ${LIMITS.idempotencyKeyLength} visible ASCII characters, without spaces`,
          { code: "invalid_arguments" },
        );
      }
      const id = item && textArgument(item.argument, members);
      if (item !== undefined && id === undefined) {
        throw new UsageError(`${item.argument} is required`, { code: "invalid_arguments" });
      }
      const { body: result } = await client.request<object>({
        method,
        path: path.replace("{id}", () => apiPath`${id ?? ""}`),
        idempotencyKey,
        ...(method === "GET" ? { query: queryOf(members) } : method === "DELETE" ? {} : { body: members }),
      });
      return result;
    },
  };
}

export const API_TOOLS: readonly Tool[] = OPERATIONS.filter(({ tool }) => tool !== undefined).map(toolOf);

/** Returns the argument for the item in a path: its ID, or the name of one without an ID. */
function itemOf(kind: ResourceKind): { argument: "id" | "name"; schema: TSchema } {
  const idKind = (kind === "request_log" ? "request" : kind) as IdKind;
  const prefix: string | undefined = ID_PREFIXES[idKind];
  if (prefix === undefined) return { argument: "name", schema: Snapshot.properties.name };
  return { argument: "id", schema: idOf(idKind, `ID of ${withArticle(nounOf(kind))}, ${prefix}…`) };
}

/** Removes an argument of the tool from those of the API. */
function textArgument(name: string, members: Record<string, unknown>): string | undefined {
  const { [name]: value } = members;
  delete members[name];
  if (value === undefined || typeof value === "string") return value;
  throw new UsageError(`${name} must be a string`, { code: "invalid_arguments" });
}

function queryOf(members: Arguments): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** Defines a custom tool. Its arguments are validated against its schema first. */
export function ownTool<Input extends TSchema>(
  tool: Omit<Tool, "input" | "run"> & {
    input: Input;
    run: (input: Static<Input>, session: ToolSession) => Promise<object>;
  },
): Tool {
  const validator = Compile(tool.input as TSchema);
  return {
    ...tool,
    run(input, session) {
      if (!validator.Check(input)) {
        const mistakes = validator.Errors(input).filter(({ keyword }) => keyword !== "boolean");
        throw new UsageError("Invalid arguments", {
          code: "invalid_arguments",
          hint: mistakes
            .map(({ keyword, instancePath, message, params }) =>
              keyword === "required"
                ? params.requiredProperties.map((name) => `${name} is required`).join(", ")
                : `${instancePath.slice(1)} ${message} ${detailOf(params)}`.trim(),
            )
            .join("\n"),
        });
      }
      return tool.run(input as Static<Input>, session);
    },
  };
}

/** Returns the names and values of the placeholders in a text. */
function detailOf(params: object): string {
  const lists = Object.values(params).filter(Array.isArray).flat();
  return lists.length === 0 ? "" : `(${lists.join(", ")})`;
}

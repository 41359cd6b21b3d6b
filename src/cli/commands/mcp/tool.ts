import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { Client, Method } from "../../../client/http.ts";
import { apiPath } from "../../../client/base-url.ts";
import type { Scope } from "../../../contract/scopes.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";

/** What tools need. */
export interface ToolSession {
  client: Client;
  context: Context;
  /** Reports the progress of a call to a client that requested it. */
  progress: (done: number, total: number, message: string) => void;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** One tool, as clients list and call it. */
export interface Tool {
  /** snake_case. */
  name: string;
  description: string;
  /** Scopes of the credential: at least one of each inner list. */
  scopes: readonly (readonly Scope[])[];
  /** `removes` also changes, and cannot be undone. */
  effect: "reads" | "changes" | "removes";
  input: TSchema;
  /** Rejects with the error of an API call or a command. */
  run(input: Arguments, session: ToolSession): Promise<object>;
}

interface Description extends Omit<Tool, "scopes" | "run"> {
  scope: Scope;
}

/**
 * Defines a tool for one operation of the API, which also validates its arguments. `{id}` in the path is the argument
 * `id`.
 */
export function apiTool(description: Description & { method: Method; path: string; timeLimit?: number }): Tool {
  const { method, path, scope, timeLimit, ...tool } = description;
  return {
    ...tool,
    scopes: [[scope]],
    async run(input, { client }) {
      const { id, ...rest } = input;
      const takesId = path.includes("{id}");
      if (takesId && typeof id !== "string") {
        const problem = id === undefined ? "id is required" : "id must be a string";
        throw new UsageError(problem, { code: "invalid_arguments" });
      }
      const members = takesId ? rest : input;
      const { body } = await client.request<object>({
        method,
        path: takesId ? path.replace("{id}", () => apiPath`${String(id)}`) : path,
        ...(method === "GET" ? { query: queryOf(members) } : method === "DELETE" ? {} : { body: members }),
        ...(timeLimit === undefined ? {} : { timeLimit }),
      });
      return body;
    },
  };
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
            .map(({ instancePath, message, params }) =>
              `${instancePath.slice(1)} ${message} ${detailOf(params)}`.trim(),
            )
            .join("\n"),
        });
      }
      return tool.run(input as Static<Input>, session);
    },
  };
}

/** Returns the names and values that a text refers to. */
function detailOf(params: object): string {
  const lists = Object.values(params).filter(Array.isArray).flat();
  return lists.length === 0 ? "" : `(${lists.join(", ")})`;
}

import { OPERATIONS } from "./operations.ts";
import { kindOfPath, resourceOf } from "./resources.ts";

/** The command for an operation that is not in the table: it streams. */
const STREAM = { name: "streamEvents", command: "service events tail" };

const VERBS: Readonly<Record<string, string>> = {
  GET: "list",
  POST: "create",
  "GET one": "get",
  "PATCH one": "update",
  "DELETE one": "delete",
};

/**
 * Returns the command for an operation of the API, with `{id}` for its ID; undefined if only `service api` sends it. An
 * example has its flags; to another one, those of the body are added.
 */
export function operationCommand(operation: {
  name: string;
  method: string;
  path: string;
}): { text: string; isExample: boolean } | undefined {
  const { command } = [...OPERATIONS, STREAM].find(({ name }) => name === operation.name) ?? {};
  if (typeof command === "string") return { text: command, isExample: true };
  const [, , , ...rest] = operation.path.split("/");
  const takesId = rest[0] === "{id}";
  const resource = resourceOf(kindOfPath(operation.path));
  if (command === null || resource.command === undefined || !(takesId || rest.length === 0)) return undefined;
  const verb = rest[1]?.replaceAll("_", "-") ?? VERBS[`${operation.method}${takesId ? " one" : ""}`];
  return { text: ["service", resource.command.name, verb, ...(takesId ? ["{id}"] : [])].join(" "), isExample: false };
}

/** Returns the path of a command without its arguments, such as `service orders create`. */
export function commandPath(command: string): string {
  return /^service( [a-z-]+){1,2}(?= |$)/.exec(command)![0];
}

import { pairTypeOf } from "../../../../contract/field-types.ts";
import { type Field, kindOfPath, resourceOf } from "../../../../contract/resources.ts";
import { inProject, shellWord } from "../../../../contract/shell-command.ts";
import type { Operation } from "./document.ts";
import { OPERATIONS } from "../../../../contract/operations.ts";

export interface Sample {
  name: "curl" | "node" | "python" | "cli";
  label: string;
  language: "sh" | "js" | "python";
  text: string;
}

/** Longer JSON is in several lines. */
const MAX_LINE = 48;
/** Objects of a list that a sample asks for. */
const PAGE_SIZE = 10;

const isStream = ({ success }: Operation): boolean => success.mediaType === "text/event-stream";

/** Returns samples of a request with cURL, Node.js, Python and the CLI. */
export function requestSamples(operation: Operation, baseUrl: string): Sample[] {
  return [
    { name: "curl", label: "cURL", language: "sh", text: curl(operation, baseUrl) },
    { name: "node", label: "Node.js", language: "js", text: node(operation, baseUrl) },
    { name: "python", label: "Python", language: "python", text: python(operation, baseUrl) },
    { name: "cli", label: "CLI", language: "sh", text: inProject(commandOf(operation)) },
  ];
}

function curl(operation: Operation, baseUrl: string): string {
  const { method, body } = operation;
  return [
    `curl ${isStream(operation) ? "-N " : ""}${method === "GET" ? "" : `-X ${method} `}${shellWord(baseUrl + examplePath(operation))}`,
    `-H "Authorization: Bearer $SERVICE_API_KEY"`,
    ...(body === undefined ? [] : [`-H "Content-Type: application/json"`, `-d ${shellWord(readable(body.example))}`]),
  ].join(" \\\n  ");
}

function node(operation: Operation, baseUrl: string): string {
  const { method, body, success } = operation;
  const headers = ["Authorization: `Bearer ${process.env.SERVICE_API_KEY}`"];
  if (method === "POST") headers.push(`"Idempotency-Key": crypto.randomUUID()`);
  if (body !== undefined) headers.push(`"Content-Type": "application/json"`);
  return [
    `const response = await fetch("${baseUrl}${examplePath(operation)}", {`,
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    `  headers: {`,
    ...headers.map((header) => `    ${header},`),
    `  },`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body.example, null, 2))}),`]),
    `});`,
    `if (!response.ok) throw new Error((await response.json()).detail);`,
    ...(success.mediaType === "application/json"
      ? [`const ${variable(success.example)} = await response.json();`]
      : []),
    ...(isStream(operation)
      ? ["for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text);"]
      : []),
  ].join("\n");
}

function python(operation: Operation, baseUrl: string): string {
  const { method, body, success } = operation;
  const isJson = success.mediaType === "application/json";
  const headers = [`"Authorization": f"Bearer {os.environ['SERVICE_API_KEY']}"`];
  if (method === "POST") headers.push(`"Idempotency-Key": str(uuid.uuid4())`);
  if (body !== undefined) headers.push(`"Content-Type": "application/json"`);
  return [
    ...(isJson || body !== undefined ? ["import json"] : []),
    "import os",
    "import urllib.request",
    ...(method === "POST" ? ["import uuid"] : []),
    "",
    `request = urllib.request.Request(`,
    `    "${baseUrl}${examplePath(operation)}",`,
    ...(method === "GET" ? [] : [`    method="${method}",`]),
    `    headers={`,
    ...headers.map((header) => `        ${header},`),
    `    },`,
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonLiteral(body.example)}).encode(),`]),
    `)`,
    `with urllib.request.urlopen(request) as response:`,
    ...(isJson
      ? [`    ${nameOf(success.example)} = json.load(response)`]
      : ["    for line in response:", `        print(line.decode(), end="")`]),
  ].join("\n");
}

/** Returns JSON as Python writes it. Each of its values has a line of its own. */
function pythonLiteral(value: unknown): string {
  const names: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  return JSON.stringify(value, null, 4)
    .replaceAll(/(?<=^\s+|": )(?:true|false|null)(?=,?$)/gm, (name) => names[name]!)
    .replaceAll("\n", "\n    ");
}

/** Returns the command for the request, or `service api` if there is none. It prints the same JSON as the response. */
function commandOf(operation: Operation): string {
  const { operationId, method, path, body, success } = operation;
  const command = operationCommand({ name: operationId, method, path });
  if (command === undefined) {
    const input = body === undefined ? "" : ` --input - <<< ${shellWord(JSON.stringify(body.example))}`;
    return `service api ${method === "GET" ? "" : `${method} `}${shellWord(examplePath(operation))}${input}`;
  }
  const given = command.isExample ? [] : flags(body?.example ?? {}, resourceOf(kindOfPath(path)).fields ?? {});
  const page = !command.isExample && hasPages(operation) ? [`--limit ${PAGE_SIZE}`] : [];
  const json = success.mediaType === "application/json" ? ["--json"] : [];
  return [command.text.replace("{id}", exampleId(operation)), ...given, ...page, ...json].join(" ");
}

function flags(example: object, fields: Readonly<Record<string, Field>>): string[] {
  return Object.entries(example).flatMap(([name, value]) => {
    const { of, flag = name.replaceAll("_", "-") } = fields[name] ?? {};
    const given =
      typeof value === "object" && !Array.isArray(value)
        ? Object.entries(value as object).map((pair) => pair.join(pairTypeOf(of).separator))
        : [[value].flat().join(",")];
    return given.map((text) => `--${flag} ${shellWord(text)}`);
  });
}

function examplePath(operation: Operation): string {
  const query = hasPages(operation) ? `?limit=${PAGE_SIZE}` : "";
  return operation.path.replace("{id}", exampleId(operation)) + query;
}

function hasPages({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === "limit");
}

export function exampleId({ parameters }: Operation): string {
  const { schema } = parameters.find((parameter) => parameter.in === "path") ?? {};
  const example = schema?.examples?.[0];
  return typeof example === "string" ? example : "{id}";
}

/** Returns JSON in one line if it is short. */
function readable(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length <= MAX_LINE ? line : indent(JSON.stringify(value, null, 2));
}

function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

/** Returns the name of a response: its kind of object. A list is called a page, because Python has a function `list`. */
function nameOf(example: unknown): string {
  const { object = "result" } = (example ?? {}) as { object?: string };
  return object === "list" ? "page" : object;
}

function variable(example: unknown): string {
  return nameOf(example).replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}

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

/** Returns what the command for an operation prints, if that is not the response: a list without its page. */
export function outputOf({ operationId: name, method, path, success }: Operation): object | undefined {
  const { object, data } = (success.example ?? {}) as { object?: string; data?: object };
  return object === "list" && operationCommand({ name, method, path }) !== undefined ? data : undefined;
}

/** Returns the path of a command without its arguments, such as `service orders create`. */
export function commandPath(command: string): string {
  return /^service( [a-z-]+){1,2}(?= |$)/.exec(command)![0];
}

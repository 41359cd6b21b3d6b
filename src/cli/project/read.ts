import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { isMap, isNode, isScalar, type Node, type Pair } from "yaml";
import { parseSubscriptions } from "../arguments/values.ts";
import { EXIT_CODES, UserError } from "../errors.ts";
import { PROJECT_DEFAULTS, PROJECT_FILE } from "./file.ts";
import { envFileProblem, IrregularFileError, outsideOf, readRegularFile } from "./safe-files.ts";
import { isRecord, valueAt } from "../../contract/json.ts";
import { type Project, PROJECT_SCHEMA, type Schema, type TypeName } from "./schema.ts";
import { MAX_YAML_BYTES, type ParsedYaml, parseYaml, YamlError } from "../yaml.ts";
import { parseBaseUrl } from "../../client/base-url.ts";
import { UnsafeRequestError } from "../../client/errors.ts";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS, typesOfSubscription } from "../../contract/event-types.ts";
import { isHeaderName, isHeaderValue } from "../../contract/headers.ts";
import { nearest } from "../../contract/nearest.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { parseTarget, TargetError } from "../../relay/targets.ts";
import { schemeProblem } from "../../webhooks/scheme.ts";
import { SCHEMES, type SchemeName } from "../../webhooks/schemes.ts";

/** The project file cannot be used. The hint has a line for each error: `service.yaml:3:7: forward.to: …`. */
export class ProjectFileError extends UserError {
  override name = "ProjectFileError";

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { hint, code: "project_file", exitCode: EXIT_CODES.usage, cause });
  }
}

/**
 * Reads the project file of a folder; returns undefined if there is none, or one of Kubernetes, whose manifests often
 * have this name. Throws ProjectFileError, with `section` only for errors that concern this top-level key. Import this
 * module lazily: its parser is large.
 */
export function readProject(folder: string, section?: keyof Project): { project: Project; text: string } | undefined {
  const text = readText(folder);
  if (text === undefined) return undefined;
  const project = parseProject(text, folder, section);
  return project === undefined ? undefined : { project, text };
}

/** Returns the text of the project file of a folder, or undefined if there is none. */
export function readText(folder: string): string | undefined {
  try {
    return readRegularFile(join(folder, PROJECT_FILE), MAX_YAML_BYTES).toString("utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof IrregularFileError) {
      throw new ProjectFileError(`${PROJECT_FILE} ${message}`, "Replace it with a file of only the settings.", error);
    }
    throw new ProjectFileError(`Cannot read ${PROJECT_FILE}`, message, error);
  }
}

/**
 * Parses the project file of a folder. Returns undefined for a manifest of Kubernetes. Throws ProjectFileError, with
 * `section` only for errors that concern this top-level key.
 */
export function parseProject(text: string, folder: string, section?: keyof Project): Project | undefined {
  const parsed = parse(text);
  const { value = {} } = parsed;
  // Without quotes, `!order.created` is a tag of an empty value.
  const tags = parsed.document.warnings.filter(({ code }) => code === "TAG_RESOLVE_FAILED");
  if (tags.length > 0 && section === undefined) {
    const lines = tags.map(({ pos: [offset], message }) => {
      const { line, column } = parsed.placeOf(offset);
      return `${PROJECT_FILE}:${line}:${column}: "${/!\S*/.exec(message)?.[0] ?? "!"}" must be in quotes`;
    });
    throw new ProjectFileError(`${PROJECT_FILE} has an error`, lines.join("\n"));
  }
  if (isRecord(value) && "apiVersion" in value && "kind" in value) return undefined;
  // An empty file means the defaults.
  const mistakes = value === null ? [] : mistakesIn(value, PROJECT_SCHEMA);
  const all = [
    ...mistakes,
    ...conflictsIn(value),
    ...schemeProblemsIn(value, mistakes),
    ...forbiddenPaths(value, folder),
  ].filter((mistake) => concerns(mistake, section));
  if (all.length === 0) return value ?? {};
  const count = all.length === 1 ? "an error" : `${all.length} errors`;
  throw new ProjectFileError(`${PROJECT_FILE} has ${count}`, all.map((mistake) => lineOf(mistake, parsed)).join("\n"));
}

function parse(text: string): ParsedYaml {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column } = error.place;
    throw new ProjectFileError(
      `${PROJECT_FILE} is not YAML`,
      `${PROJECT_FILE}:${line}:${column}: ${error.message}`,
      error,
    );
  }
}

/** An unknown key may be a misspelled section. */
function concerns({ path, atKey }: Mistake, section: keyof Project | undefined): boolean {
  return section === undefined || path.length === 0 || path[0] === section || (path.length === 1 && atKey);
}

/** A platform is either started or exists already. */
function conflictsIn(value: unknown): Mistake[] {
  const { platform } = (value ?? {}) as { platform?: unknown };
  if (typeof platform !== "object" || platform === null || !("url" in platform)) return [];
  return ["port", "database", "private_targets"]
    .filter((key) => key in platform)
    .map((key) => ({
      path: ["platform", key],
      atKey: true,
      message: "cannot be combined with url; remove one of them",
    }));
}

const PATHS = ["platform.database", "env.file", "seed"];

/** The file may come with someone else's repository. */
function forbiddenPaths(value: unknown, folder: string): Mistake[] {
  const usesOwn = valueAt(value, "platform.url") === undefined;
  return PATHS.flatMap((name) => {
    const standard = name === "platform.database" && usesOwn ? PROJECT_DEFAULTS.database : undefined;
    const path = valueAt(value, name) ?? standard;
    if (typeof path !== "string") return [];
    const place = outsideOf(folder, path);
    const message =
      place !== undefined
        ? `leads to ${place}, outside the folder of ${PROJECT_FILE}; use a path inside it`
        : name === "env.file"
          ? envFileProblem(folder, path)
          : undefined;
    return message === undefined ? [] : [{ path: name.split("."), atKey: false, message }];
  });
}

/** Returns the first rule between its keys that each scheme breaks, if the keys themselves are valid. */
function schemeProblemsIn(value: unknown, mistakes: readonly Mistake[]): Mistake[] {
  if (mistakes.some(({ path: [section] }) => section === "schemes")) return [];
  return Object.entries((value as Project | null)?.schemes ?? {}).flatMap(([name, scheme]) => {
    const problem = schemeProblem({ name, ...scheme });
    return problem === undefined
      ? []
      : [{ path: ["schemes", name, ...problem.path], atKey: false, message: problem.message }];
  });
}

function lineOf({ path, atKey, message }: Mistake, parsed: ParsedYaml): string {
  const { line, column } = parsed.placeOf(offsetOf(parsed.document.contents, path, atKey));
  const name = path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
  return `${PROJECT_FILE}:${line}:${column}: ${name === "" ? "the file" : name}: ${message}`;
}

/** Returns the offset of the key or value at a path, or of the last part of the path that exists. */
function offsetOf(root: Node | null, path: Mistake["path"], atKey: boolean): number {
  let node: unknown = root;
  let offset = 0;
  for (const [i, key] of path.entries()) {
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(
        ({ key: name }) => (isScalar(name) ? String(name.value) : "") === key,
      );
      offset = startOf(pair?.key) ?? offset;
      if (atKey && i === path.length - 1) return offset;
      node = pair?.value;
    } else {
      node = (node as { items?: readonly unknown[] } | undefined)?.items?.[Number(key)];
    }
    offset = startOf(node) ?? offset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

interface Mistake {
  /** Keys and indexes from the top of the file. */
  path: readonly (string | number)[];
  /** True if the key is wrong, not its value. */
  atKey: boolean;
  message: string;
}

/** Returns the errors of a value, in the order of the schema. */
function mistakesIn(value: unknown, schema: Schema, path: Mistake["path"] = []): Mistake[] {
  const wrong = (message: string): Mistake[] => [{ path, atKey: false, message }];
  const types = [schema.type].flat();
  if (!types.some((type) => isOfType(value, type)))
    return wrong(`must be ${NAMES[types[0]!]}, not ${nameOf(value)}${exampleOf(schema)}`);
  if (schema.type === "object") return mistakesInObject(value as Record<string, unknown>, schema, path);
  const { minItems = 0, minLength = 0, minimum, maximum, pattern, format, items } = schema;
  if (Array.isArray(value)) {
    if (value.length < minItems) return wrong("must not be empty");
    const inside = value.flatMap((item, i) => mistakesIn(item, items!, [...path, i]));
    if (inside.length > 0) return inside;
  }
  if (typeof value === "string" && value.length < minLength) return wrong("must not be empty");
  if (minimum !== undefined && (value as number) < minimum) return wrong(`must be at least ${minimum}`);
  if (maximum !== undefined && (value as number) > maximum) return wrong(`must be at most ${maximum}`);
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) {
    return wrong(`must be ${schema.enum.join(" or ")}, not ${nameOf(value)}`);
  }
  if (pattern !== undefined && !new RegExp(pattern).test(value as string)) {
    return wrong("must be the name of a variable: letters, digits and _");
  }
  const message = format === undefined ? undefined : FORMATS[format](value as never);
  return message === undefined ? [] : wrong(message);
}

function mistakesInObject(value: Record<string, unknown>, schema: Schema, path: Mistake["path"]): Mistake[] {
  const { properties = {}, required = [], propertyNames, patternProperties = {}, additionalProperties: rest } = schema;
  const free = Object.keys(patternProperties).map((pattern) => new RegExp(pattern));
  const missing = required.filter((key) => !Object.hasOwn(value, key));
  const inMembers = Object.entries(value).flatMap(([key, member]) => {
    const own = [...path, key];
    const atKey = (message: string): Mistake => ({ path: own, atKey: true, message });
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) return mistakesIn(member, known, own);
    if (free.some((pattern) => pattern.test(key))) return [];
    if (!rest) {
      const names = Object.keys(properties);
      const near = nearest(key, names);
      return [atKey(`unknown key${near.length === 0 ? `; known are ${names.join(", ")}` : didYouMean(near)}`)];
    }
    const message = propertyNames === undefined ? undefined : KEY_FORMATS[propertyNames.format](key);
    return [...(message === undefined ? [] : [atKey(message)]), ...mistakesIn(member, rest, own)];
  });
  return [...missing.map((key) => ({ path, atKey: true, message: `the key ${key} is missing` })), ...inMembers];
}

function didYouMean([guess]: readonly string[]): string {
  return guess === undefined ? "" : `; did you mean ${guess}?`;
}

const NAMES: Readonly<Record<TypeName, string>> = {
  object: "keys and values",
  array: "a list",
  string: "a string",
  integer: "a whole number",
  boolean: "true or false",
};

/** Shows how a list or keys and values are written, if the schema has an example. */
function exampleOf({ examples: [example] = [] }: Schema): string {
  return typeof example === "object" ? `, for example ${JSON.stringify(example)}` : "";
}

function isOfType(value: unknown, type: TypeName): boolean {
  if (type === "object") return isRecord(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type;
}

function nameOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "keys and values";
  return typeof value === "string" ? `the string "${value.slice(0, 40)}"` : JSON.stringify(value);
}

/** The rules of keys that are not fixed. Each returns an error message, or undefined. */
const KEY_FORMATS = {
  subscription: (key: string) =>
    typesOfSubscription(key).length > 0
      ? undefined
      : `unknown event type${didYouMean(nearest(key, [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS]))}`,
  "scheme-name": (key: string) => {
    if (!/^[\w-]+$/.test(key)) return "must consist of letters, digits, - and _";
    return Object.hasOwn(SCHEMES, key)
      ? `${SCHEMES[key as SchemeName].name} has this name; choose another one`
      : undefined;
  },
  "header-name": (key: string) => (isHeaderName(key) ? undefined : "is not a valid header name"),
};

export function isPort(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 65_535;
}

/** The rules of the flags that take the same values. Each returns an error message, or undefined. */
export const FORMATS = {
  port: (port: string | number) =>
    port === "auto" || isPort(Number(port))
      ? undefined
      : `${port} is not a valid port: use a number from 1 to 65535, or auto`,
  target: (target: string | number) => messageOf(() => parseTarget(String(target)), TargetError),
  "base-url": (text: string) => messageOf(() => parseBaseUrl(text, { insecure: true }), UnsafeRequestError),
  subscriptions: (names: readonly string[]) =>
    messageOf(() => parseSubscriptions(names.join(",")), InvalidArgumentError),
  "header-name": KEY_FORMATS["header-name"],
  "header-value": (text: string) =>
    isHeaderValue(text) ? undefined : "contains characters that are not allowed in a header",
  url: (text: string) =>
    /^https?:$/.test(parseUrl(text)?.protocol ?? "") ? undefined : "must be a URL that begins with https://",
};

function messageOf(parse: () => unknown, expected: new (...args: never[]) => Error): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof expected) return error.message;
    throw error;
  }
}

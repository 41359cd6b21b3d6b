import { type AnySchema, Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import type { RawResponse } from "../../support/raw-http.ts";
import type { Document, Json, Operation, Schema } from "./document.ts";
import type { Request } from "./requests.ts";

interface Response {
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { schema: Schema }>;
}

interface Header {
  required?: boolean;
  schema: Schema;
}

/** Errors that a request allowed by the document never receives. */
const STRUCTURAL = new Set([
  "unknown_field",
  "wrong_type",
  "invalid_format",
  "required",
  "too_long",
  "too_short",
  "too_few",
  "not_allowed",
  "duplicate",
  "unexpected_body",
  "invalid",
]);

/** Compares responses with the served document, using a validator independent of the platform. */
export class Judge {
  private readonly document: Document;
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(document: Document) {
    this.document = document;
    ajvFormats.default(this.ajv);
    this.ajv.addSchema(document.root, "document");
    this.ajv.addSchema(closed(document.root) as AnySchema, "closed");
  }

  /** Returns true if the body violates the operation's schema. */
  breaks(operation: Operation, body: unknown): boolean {
    const at = `document#/paths/${escape(operation.path)}/${operation.method.toLowerCase()}/requestBody/content/application~1json/schema`;
    return !this.validatorAt(at)(body);
  }

  /** Returns the violations of a response. */
  faultsOf(request: Request, reply: RawResponse): string[] {
    const { status, headers, body } = reply;
    const { responses } = request.operation;
    const pointer = responses.get(status);
    if (status >= 500) return [`answered ${status}`];
    if (pointer === undefined) return [`${status} is not documented`];
    const response = this.document.resolve<Response>(this.document.at(pointer) as Response);
    const media = headers["content-type"]?.split(";")[0] ?? "";
    if (response.content?.[media] === undefined) return [`${status} as ${media || "nothing"} is not documented`];
    let value: Json;
    try {
      value = JSON.parse(body) as Json;
    } catch {
      return ["the body is no JSON"];
    }
    const validate = this.validatorAt(`closed${pointer}/content/${escape(media)}/schema`);
    return [
      ...(validate(value) ? [] : [this.ajv.errorsText(validate.errors)]),
      ...this.headerFaults(response, pointer, headers),
      ...problemFaults(value, status, headers),
      ...expectationFaults(request, status, value),
    ];
  }

  private headerFaults(
    { headers: documented = {} }: Response,
    pointer: string,
    sent: Record<string, string>,
  ): string[] {
    return Object.entries(documented).flatMap(([name, reference]) => {
      const header = this.document.resolve<Header>(reference);
      const text = sent[name.toLowerCase()];
      if (text === undefined) return header.required === true ? [`the header ${name} is missing`] : [];
      const value = header.schema.type === "integer" ? Number(text) : text;
      const validate = this.validatorAt(`document${reference.$ref ?? `${pointer}/headers/${name}`}/schema`);
      return validate(value) ? [] : [`the header ${name} is ${JSON.stringify(text)}`];
    });
  }

  private validatorAt(pointer: string): ValidateFunction {
    let found = this.compiled.get(pointer);
    if (found === undefined) this.compiled.set(pointer, (found = this.ajv.compile({ $ref: pointer })));
    return found;
  }
}

function problemFaults(value: Json, status: number, headers: Record<string, string>): string[] {
  if (status < 400) return [];
  const faults: string[] = [];
  if (value["status"] !== status) faults.push(`the problem says ${String(value["status"])}`);
  if (value["request_id"] !== headers["request-id"]) faults.push("the problem names another request");
  if (!String(value["type"]).endsWith(`/problems/${String(value["code"])}`)) faults.push("the type is another code's");
  return faults;
}

function expectationFaults({ expected }: Request, status: number, value: Json): string[] {
  if (expected === "documented") return [];
  if (typeof expected === "object") {
    return value["code"] === expected.code
      ? []
      : [`${expected.code} was expected, not ${status} ${String(value["code"])}`];
  }
  if (expected === "rejected") return status >= 400 ? [] : [`a bad request got ${status}`];
  const errors = status === 400 ? ((value["errors"] ?? []) as { code: string }[]) : [];
  return errors
    .filter(({ code }) => STRUCTURAL.has(code))
    .map((error) => `a good request was refused: ${JSON.stringify(error)}`);
}

/**
 * Returns the document with additional properties forbidden in every object schema, so that undocumented members are
 * violations.
 */
function closed(part: unknown, isPartial = false): unknown {
  if (Array.isArray(part)) return part.map((item) => closed(item, isPartial));
  if (typeof part !== "object" || part === null) return part;
  const copy = Object.fromEntries(
    Object.entries(part as Json).map(([name, value]) => [name, closed(value, isPartial || name === "allOf")]),
  );
  const lists =
    copy["type"] === "object" && copy["properties"] !== undefined && copy["additionalProperties"] === undefined;
  return lists && !isPartial ? { ...copy, additionalProperties: false } : copy;
}

function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

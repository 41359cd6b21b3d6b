import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";

/** A query or form that cannot be parsed: a malformed escape, a control character, a repeated parameter. */
export class ParameterError extends Error {
  override name = "ParameterError";
}

export class Parameters {
  readonly #values: ReadonlyMap<string, string>;
  /** Names of repeated parameters. */
  readonly repeated: ReadonlySet<string>;

  constructor(values: ReadonlyMap<string, string>, repeated: ReadonlySet<string>) {
    this.#values = values;
    this.repeated = repeated;
  }

  /** Returns the value, or undefined if it is absent or empty (RFC 6749 3.1 treats both alike). */
  get(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }

  /** Returns the value of a form's field; empty if the field is absent. */
  text(name: string): string {
    return this.#values.get(name) ?? "";
  }
}

/** Parses `a=1&b=2`. Throws ParameterError. Of a repeated parameter the first value counts. */
function parseParameters(text: string): Parameters {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of pairsOf(text, /[\u0000-\u001f\u007f]/, invalidParameter)) {
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return new Parameters(values, repeated);
}

const invalidParameter = (content: string) => new ParameterError(`A parameter contains ${content}`);

/** Yields the names and values of `a=1&b=2`. Throws what `invalid` returns if one has a malformed escape or such a character. */
export function* pairsOf(text: string, controls: RegExp, invalid: (content: string) => Error) {
  const decode = (part: string): string => {
    let decoded: string;
    try {
      decoded = decodeURIComponent(part.replaceAll("+", " "));
    } catch {
      throw invalid(`a malformed escape: ${part.slice(0, 60)}`);
    }
    if (!controls.test(decoded)) return decoded;
    throw invalid(`a control character: ${part.slice(0, 60)}`);
  };
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    yield [decode(name), equals === -1 ? "" : decode(pair.slice(equals + 1))] as const;
  }
}

export function queryOf(url: string): Parameters {
  const mark = url.indexOf("?");
  return parseParameters(mark === -1 ? "" : url.slice(mark + 1));
}

/** Returns the parameters of a form's body; none without a body. */
export function formOf(body: unknown): Parameters {
  if (!Buffer.isBuffer(body)) return parseParameters("");
  if (!isUtf8(body)) throw new ParameterError("The form is not valid UTF-8.");
  return parseParameters(body.toString("utf8"));
}

const FORM_BYTES = 64 * 1024;

/** Makes a part of the server accept forms only. The body stays raw bytes. */
export function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer", bodyLimit: FORM_BYTES },
    (_request, body, done) => done(null, body),
  );
}

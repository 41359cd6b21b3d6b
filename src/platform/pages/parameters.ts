import { isUtf8 } from "node:buffer";

/** A query or form that cannot be read: a malformed escape, a control character, a parameter given twice. */
export class ParameterError extends Error {
  override name = "ParameterError";
}

/** The parameters of a query or a form. */
export class Parameters {
  readonly #values: ReadonlyMap<string, string>;
  /** The names that were given more than once. */
  readonly repeated: ReadonlySet<string>;

  constructor(values: ReadonlyMap<string, string>, repeated: ReadonlySet<string>) {
    this.#values = values;
    this.repeated = repeated;
  }

  /** The value, or undefined where it is absent or empty (RFC 6749 3.1 holds the two equal). */
  get(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }

  /** The value of a form's field; empty where the field was left out. */
  text(name: string): string {
    return this.#values.get(name) ?? "";
  }
}

/** Reads `a=1&b=2`. Throws ParameterError. Of a repeated parameter the first value is kept. */
function parseParameters(text: string): Parameters {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (values.has(name)) repeated.add(name);
    else values.set(name, equals === -1 ? "" : decode(pair.slice(equals + 1)));
  }
  return new Parameters(values, repeated);
}

/** The parameters behind a URL's question mark. */
export function queryOf(url: string): Parameters {
  const mark = url.indexOf("?");
  return parseParameters(mark === -1 ? "" : url.slice(mark + 1));
}

/** The parameters of a form's body; none where there was no body. */
export function formOf(body: unknown): Parameters {
  if (!Buffer.isBuffer(body)) return parseParameters("");
  if (!isUtf8(body)) throw new ParameterError("The form is not valid UTF-8.");
  return parseParameters(body.toString("utf8"));
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new ParameterError(`A parameter holds a malformed escape: ${text.slice(0, 60)}`);
  }
  if (!/[\u0000-\u001f\u007f]/.test(decoded)) return decoded;
  throw new ParameterError(`A parameter holds a control character: ${text.slice(0, 60)}`);
}

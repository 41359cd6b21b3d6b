import { isHeaderName } from "../../contract/headers.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import type { Vault } from "../security/vault.ts";
import { invalidFields } from "./api-error.ts";

/** Headers by name, as they are sent. */
export type EndpointHeaders = Readonly<Record<string, string>>;

/** Changes by name; null or an empty text removes a header. Names are compared ignoring case. */
type HeaderChanges = Readonly<Record<string, string | null>>;

/** Headers that a delivery sets itself, or that belong to the connection (RFC 9110 7.6.1). */
const RESERVED =
  /^(service-.*|content-.*|proxy-.*|host|connection|user-agent|expect|keep-alive|te|trailer|transfer-encoding|upgrade|traceparent)$/i;

/** Returns the headers after a change. Throws ApiError for invalid and reserved names, and for too many headers. */
export function changeHeaders(headers: EndpointHeaders, changes: HeaderChanges): EndpointHeaders {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const changed = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  for (const [name, value] of Object.entries(changes)) {
    const detail = problemOf(name, names.has(name.toLowerCase()));
    names.add(name.toLowerCase());
    if (detail !== undefined) {
      errors.push({ pointer: `/headers/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, ...detail });
    } else if (value === null || value === "") changed.delete(name.toLowerCase());
    else changed.set(name.toLowerCase(), { name, value });
  }
  if (changed.size > LIMITS.endpointHeaders) {
    const detail = `must have at most ${LIMITS.endpointHeaders} headers; the endpoint would have ${changed.size}`;
    errors.push({ pointer: "/headers", code: "too_many", detail });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return Object.fromEntries([...changed.values()].map(({ name, value }) => [name, value]));
}

function problemOf(name: string, isRepeated: boolean): Pick<FieldError, "code" | "detail"> | undefined {
  if (!isHeaderName(name)) {
    return { code: "invalid_format", detail: "must be a header name: letters, digits and hyphens, such as X-Api-Key" };
  }
  if (RESERVED.test(name)) return { code: "reserved", detail: "is set by the delivery or its connection: remove it" };
  return isRepeated ? { code: "duplicate", detail: "is repeated: names are compared ignoring case" } : undefined;
}

/** Returns the columns of an endpoint's headers. */
export function sealHeaders(vault: Vault, endpointId: string, headers: EndpointHeaders) {
  const names = Object.keys(headers);
  return {
    header_names: JSON.stringify(names),
    headers: names.length === 0 ? null : vault.seal(JSON.stringify(headers), contextOfHeaders(endpointId)),
  };
}

/** Returns the headers of an endpoint. Throws if they cannot be decrypted. */
export function openHeaders(vault: Vault, endpointId: string, sealed: Uint8Array | null): EndpointHeaders {
  return sealed === null ? {} : (JSON.parse(vault.open(sealed, contextOfHeaders(endpointId))) as EndpointHeaders);
}

/** What binds the sealed headers to their endpoint. It differs from that of the endpoint's secrets. */
export function contextOfHeaders(endpointId: string): string {
  return `headers of ${endpointId}`;
}

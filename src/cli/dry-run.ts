import { urlOf } from "../client/base-url.ts";
import type { ApiRequest } from "../client/http.ts";
import { CREDENTIAL_PREFIXES, SIGNING_SECRET_PREFIX } from "../contract/credentials.ts";
import { parseJson } from "../contract/json.ts";
import { compactJson, prettyJson } from "./terminal/json.ts";
import type { Output } from "./terminal/output.ts";

const SECRET = new RegExp(`^(${[...Object.keys(CREDENTIAL_PREFIXES), SIGNING_SECRET_PREFIX].join("|")})[\\w-]{16,}$`);

/** Prints requests that are not sent: method, URL, body, without a credential. Several are one list in JSON. */
export async function showRequests(output: Output, baseUrl: URL, requests: readonly ApiRequest[]): Promise<void> {
  const shown = requests.map(({ method, path, query, body }) => ({
    method,
    // Braces stand for a value from an earlier response, such as {id}.
    url: urlOf(baseUrl, path, query).href.replaceAll("%7B", "{").replaceAll("%7D", "}"),
    body: body === undefined ? undefined : masked(body),
  }));
  if (output.json) {
    const documents = shown.map(({ body = null, ...request }) => ({ dry_run: true, ...request, body }));
    return await output.document(documents.length === 1 ? documents[0] : documents);
  }
  for (const { method, url, body } of shown) {
    if (output.terminal) {
      output.line(`${output.styles.strong(method)} ${url}`);
      if (body !== undefined) output.line(prettyJson(body, output.styles));
    } else {
      output.line([method, url, ...(body === undefined ? [] : [compactJson(body)])].join("\t"));
    }
  }
  output.note("Nothing was sent.");
}

function masked(body: unknown): unknown {
  const mask = (_key: string, value: unknown) => (typeof value === "string" ? value.replace(SECRET, "$1…") : value);
  return JSON.parse(JSON.stringify(typeof body === "string" ? parsed(body) : body, mask));
}

function parsed(body: string): unknown {
  const value = parseJson(body);
  return value === undefined ? body : value;
}

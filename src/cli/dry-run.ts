import { type Command, Option } from "commander";
import { urlOf } from "../client/base-url.ts";
import type { ApiRequest } from "../client/http.ts";
import { CREDENTIAL_PREFIXES, SIGNING_SECRET_PREFIX } from "../contract/credentials.ts";
import { UsageError } from "./errors.ts";
import { pathOf } from "./help-layout.ts";
import { compactJson, prettyJson } from "./terminal/json.ts";
import type { Output } from "./terminal/output.ts";

const LONG = "--dry-run";
const SECRET = new RegExp(`^(${[...Object.keys(CREDENTIAL_PREFIXES), SIGNING_SECRET_PREFIX].join("|")})[\\w-]{16,}$`);

/** `-n, --dry-run` at the root, so that it may follow any command. Commands without dry run reject it. */
export function dryRunOption(): Option {
  return new Option(`-n, ${LONG}`, "Print the requests without sending them");
}

/** Marks a command that makes a change through the API. */
export function addDryRun(command: Command): Command {
  return command.addOption(dryRunOption());
}

/** Throws UsageError for a command that would ignore the flag. */
export function rejectDryRun(command: Command): void {
  if (command.options.some(({ long }) => long === LONG)) return;
  throw new UsageError(`\`${pathOf(command)}\` does not support ${LONG}`, {
    hint: "Only commands that change something at the platform support it.",
  });
}

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
  return JSON.parse(JSON.stringify(typeof body === "string" ? parsed(body) : body, mask));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function mask(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(SECRET, "$1…") : value;
}

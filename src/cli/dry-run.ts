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

/** `-n, --dry-run` as the root knows it: any command may be followed by it, and those that do not take it refuse it. */
export function dryRunOption(): Option {
  return new Option(`-n, ${LONG}`, "Print the request that would change something; send nothing");
}

/** Marks a command that changes something through the API. */
export function addDryRun(command: Command): Command {
  return command.addOption(dryRunOption());
}

/** Throws UsageError for a command that would do its work all the same. */
export function refuseDryRun(command: Command): void {
  if (command.options.some(({ long }) => long === LONG)) return;
  throw new UsageError(`\`${pathOf(command)}\` takes no ${LONG}`, {
    hint: "It shows the request of a command that changes something at the platform.",
  });
}

/** Prints a request that is not sent: method, URL, body. No credential is part of it. */
export async function showRequest(
  output: Output,
  baseUrl: URL,
  { method, path, query, body }: ApiRequest,
): Promise<void> {
  const { href: url } = urlOf(baseUrl, path, query);
  const shown = typeof body === "string" ? parsed(body) : body;
  if (output.json) {
    const text = JSON.stringify({ dry_run: true, method, url, body: shown ?? null }, mask);
    return await output.document(JSON.parse(text));
  }
  const masked: unknown = shown === undefined ? undefined : JSON.parse(JSON.stringify(shown, mask));
  if (output.terminal) {
    output.line(`${output.styles.strong(method)} ${url}`);
    if (masked !== undefined) output.line(prettyJson(masked, output.styles));
  } else {
    output.line([method, url, ...(masked === undefined ? [] : [compactJson(masked)])].join("\t"));
  }
  output.note("Nothing was sent.");
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

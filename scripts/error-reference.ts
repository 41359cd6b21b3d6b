// Prints docs/errors.md: what can go wrong, from the tables that the platform, the command and the library answer by.
import { STATUS_CODES } from "node:http";
import { apiExitCode } from "../src/cli/failure.ts";
import { TOPICS } from "../src/cli/commands/help/topics.ts";
import { ERROR_GUIDES } from "../src/contract/error-guides.ts";
import { ERRORS, type ErrorCode, type Problem, PROBLEM_MEDIA_TYPE } from "../src/contract/errors.ts";
import type { SignatureErrorCode } from "../src/webhooks/index.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];
const STATUSES = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);

/** What the library's codes mean; the compiler sees to it that none is missing. */
const SIGNATURE_ERRORS: Record<SignatureErrorCode, string> = {
  header_missing: "There is no `Service-Signature`: the request is not a delivery, or a proxy dropped the header",
  header_not_text: "The header was passed as something else than text: a list, where it was sent twice",
  header_too_long: "It has more than 4,096 characters",
  header_malformed: "It is not a list of `name=value`",
  timestamp_missing: "It has no `t`",
  timestamp_repeated: "It has two `t`",
  timestamp_malformed: "`t` is not a whole number of seconds",
  signature_missing: "It has no `v1`",
  signature_malformed: "A `v1` is not 64 hex digits",
  too_many_signatures: "It has more than 10 `v1`",
  signature_mismatch:
    "No `v1` fits: another secret, or bytes that were changed on the way, most often by a parser that wrote the JSON anew",
  timestamp_too_old: "Signed more than 300 seconds ago: a replay by somebody else, or a clock that is wrong",
  timestamp_in_future: "Signed more than 300 seconds ahead: a clock that is wrong",
  payload_not_json: "The body is signed, and no JSON",
  payload_not_event: "The body is signed, and no event",
  no_secrets: "`secrets` is empty: the variable is not set, perhaps",
  empty_secret: "A secret is empty",
  invalid_secret: "A secret is not text",
  too_many_secrets: "More than 10 secrets were given",
  payload_not_raw: "The body was passed parsed: pass its bytes",
  invalid_timestamp: "`sign` was given a time that is not a whole number of seconds",
  invalid_tolerance: "`tolerance` is not a number of seconds",
  invalid_now: "`now` is not a number of seconds",
  invalid_limit: "`limit` is not a number of bytes",
  crypto_unavailable:
    "The runtime has no `node:crypto`: use `verifyAsync` and `signAsync`. Or it has no WebCrypto: browsers provide it on https pages and localhost only",
  method_not_allowed: "An adapter was called with another method than POST",
  body_already_parsed: "A body parser was there first: register the route before it",
  body_too_large: "The body is larger than the adapter's `limit`",
  body_incomplete: "The connection ended before the body did",
};

/** What `error` of a delivery's attempt begins with, and what the receiver's owner can do. */
const ATTEMPT_ERRORS: Record<string, string> = {
  timeout: "No complete reply within 10 seconds: answer first, work later",
  connection_refused: "Nothing accepts connections at that address and port",
  connection_closed: "The receiver, or something before it, closed the connection in the middle",
  dns: "The host name does not exist, or its name servers did not answer within 5 seconds",
  tls: "The certificate is expired, for another host, or from an unknown authority",
  unreachable: "No way leads to the address",
  invalid_reply: "What came back is not HTTP",
  blocked_target: "The address is not a public one: `serve --allow-private-targets` is for work on one machine",
  network: "Anything else; the text behind the colon says what",
  expired: "The 3 days of retries ended while the delivery could not be attempted",
  endpoint_deleted: "The endpoint was deleted while the delivery waited",
  endpoint_disabled: "The endpoint was disabled for what was left of the 3 days",
  event_expired: "The event is older than 30 days and was deleted",
  event_damaged: "The stored event does not match its checksum: the database file is damaged",
  interrupted: "The platform stopped during the attempt, so its outcome is unknown. The next attempt follows at once",
};

process.stdout.write(
  `${[
    "# Errors",
    "Made from the source by `npm run docs`. What can go wrong, who says so, and what to do.",
    "- [Replies of the API](#replies-of-the-api)\n- [Exit codes of the command](#exit-codes-of-the-command)\n- [Attempts of a delivery](#attempts-of-a-delivery)\n- [Signatures](#signatures)",
    "## Replies of the API",
    `Every refusal is a problem document (RFC 9457, \`${PROBLEM_MEDIA_TYPE}\`). \`code\` never changes its meaning, \`detail\` is for people and may be reworded, \`errors\` names single fields, and \`type\` leads to a page of the platform about the code.`,
    `\`\`\`json\n${JSON.stringify(exampleProblem(), null, 2)}\n\`\`\``,
    "A refusal changed nothing. After 408, 429, 500 and 503, and where no reply came at all, send the request again under the same `Idempotency-Key`, after `Retry-After` where there is one; the command does so by itself.",
    ...STATUSES.map(describeStatus),
    "## Exit codes of the command",
    `\`\`\`text\n${TOPICS["exit-codes"]!.trim()}\n\`\`\``,
    "## Attempts of a delivery",
    "An attempt that got a complete reply has its `status_code`; any other has an `error`: a code, a colon, and words. `service deliveries get dlv_…` shows all of a delivery's attempts.",
    table("Code", "Means", ATTEMPT_ERRORS),
    "## Signatures",
    "Everything that `verify` and the adapters of `service-cli/webhooks` refuse is a `SignatureError` with one of these in `code`. The adapters answer by themselves: 400, or 405, 413 and, where the receiver is not set up correctly, 500; `onError` hears of each.",
    table("Code", "Means", SIGNATURE_ERRORS),
  ].join("\n\n")}\n`,
);

function describeStatus(status: number): string {
  const codes = CODES.filter((code) => ERRORS[code].status === status);
  const exitCode = apiExitCode(status);
  return [
    `### ${status} ${STATUS_CODES[status]}`,
    `The command ends with ${exitCode}.`,
    ...codes.map((code) => {
      const { meaning, cause, remedy } = ERROR_GUIDES[code];
      return `**\`${code}\`**: ${meaning}\n\n- Why: ${cause}\n- What to do: ${remedy}`;
    }),
  ].join("\n\n");
}

function exampleProblem(): Problem {
  const { status, title } = ERRORS.invalid_request;
  return {
    type: "http://127.0.0.1:4010/problems/invalid_request",
    title,
    status,
    code: "invalid_request",
    request_id: "req_06Fv3Tt0q1Yd8mWc5KxLrB",
    ...ERROR_GUIDES.invalid_request.example,
  };
}

function table(key: string, value: string, rows: Readonly<Record<string, string>>): string {
  const lines = Object.entries(rows).map(([code, text]) => `| \`${code}\` | ${text.replaceAll("|", "\\|")} |`);
  return [`| ${key} | ${value} |`, "| --- | --- |", ...lines].join("\n");
}

// Prints docs/errors.md, from the tables of errors of the platform, the command and the library.
import { STATUS_CODES } from "node:http";
import { EXIT_CODES } from "../src/cli/errors.ts";
import { apiExitCode } from "../src/cli/failure.ts";
import { TOPICS } from "../src/cli/commands/help/index.ts";
import { textLines } from "../src/cli/help-layout.ts";
import { ERROR_GUIDES } from "../src/contract/error-guides.ts";
import { ERRORS, type ErrorCode, PROBLEM_MEDIA_TYPE } from "../src/contract/errors.ts";
import { LIMITS } from "../src/contract/limits.ts";
import type { Problem } from "../src/contract/schemas/problem.ts";
import type { SignatureErrorCode } from "../src/webhooks/index.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];
const STATUSES = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);

const FIND_CHANGE = "Find what changes the header on the way";

/** What the library's codes mean, and what to do besides responding with 400. */
const SIGNATURE_ERRORS: Record<SignatureErrorCode, [meaning: string, fix: string]> = {
  header_missing: [
    "`Service-Signature` is missing: the request is not a delivery, or a proxy removed the header",
    "Let the proxy forward the header",
  ],
  header_not_text: ["The header is not a string, for example a list because it was sent twice", FIND_CHANGE],
  header_too_long: ["The header has more than 4,096 characters", FIND_CHANGE],
  header_malformed: ["The header is not a list of `name=value`", FIND_CHANGE],
  timestamp_missing: ["The header has no `t`", FIND_CHANGE],
  timestamp_repeated: ["The header has two `t`", FIND_CHANGE],
  timestamp_malformed: ["`t` is not a whole number of seconds", FIND_CHANGE],
  signature_missing: ["The header has no `v1`", FIND_CHANGE],
  signature_malformed: ["A `v1` is not 64 hex digits", FIND_CHANGE],
  too_many_signatures: ["The header has more than 10 `v1`", FIND_CHANGE],
  signature_mismatch: [
    "No `v1` matches: the secret is a different one, or the bytes were changed, usually by parsing and serializing the JSON",
    "Find [which of the two](troubleshooting.md#the-signature-does-not-match)",
  ],
  timestamp_too_old: [
    "Signed more than 300 seconds ago: a replayed request, or a wrong clock",
    "If new deliveries fail, too, synchronize the clocks",
  ],
  timestamp_in_future: [
    "Signed more than 300 seconds in the future: a wrong clock",
    "Synchronize the clocks of sender and receiver",
  ],
  payload_not_json: ["The body is correctly signed but not JSON", "For such bodies, call `verifySignature`"],
  payload_not_event: ["The body is correctly signed but not an event", "For such bodies, call `verifySignature`"],
  no_secrets: ["`secrets` is empty", "Set the environment variable that it is read from"],
  empty_secret: ["A secret is empty", "Set the environment variable that it is read from"],
  invalid_secret: [
    "A secret is not a string, or not in the form that the scheme needs",
    "Pass the complete secret, with its prefix. Svix and Standard Webhooks need base64 after `whsec_`",
  ],
  too_many_secrets: [
    "There are more than 10 secrets, or more than one for a scheme with one signature",
    "Remove the secrets that are no longer in use",
  ],
  payload_not_raw: ["The payload is a parsed body", "Pass the bytes, or the text, as they were received"],
  invalid_timestamp: ["The `timestamp` of `sign` is not a whole number of seconds", "Round it down"],
  invalid_tolerance: ["`tolerance` is not a number of seconds", "Pass a number that is not negative"],
  invalid_now: ["`now` is not a number of seconds", "Pass seconds, not milliseconds or a `Date`"],
  invalid_id: [
    "The `id` of `sign` is missing, or cannot be sent in a header",
    "Pass 1 to 255 printable ASCII characters without spaces",
  ],
  invalid_scheme: [
    "`scheme` is not the name of a scheme, or its keys contradict each other",
    "Pass a built-in scheme's name, or correct the key that the message names",
  ],
  invalid_limit: ["`limit` is not a number of bytes", "Pass a positive whole number"],
  crypto_unavailable: [
    "The runtime has no `node:crypto`, or no WebCrypto",
    "Without `node:crypto`, call `verifyAsync` and `signAsync`. Browsers have WebCrypto on https pages and localhost only",
  ],
  method_not_allowed: ["The request of an adapter is not a POST", "Send deliveries as POST"],
  body_already_parsed: ["A body parser has consumed the body", "Register the route before the parser"],
  body_too_large: ["The body is larger than the adapter's `limit`", "If you expect such bodies, raise `limit`"],
  body_incomplete: [
    "The connection ended before the body was complete",
    "Nothing: the sender retries. If it happens often, check the proxy's timeouts",
  ],
};

/** Prefixes of an attempt's `error`, and what to do about them. */
const ATTEMPT_ERRORS: Record<string, string> = {
  timeout: `No complete response within ${LIMITS.deliverySeconds} seconds: respond first, work afterwards`,
  connection_refused: "No server listens on this address and port",
  connection_closed: "The receiver or a proxy closed the connection before the response was complete",
  dns: "The host name does not exist, or its name servers did not answer within 5 seconds",
  tls: "The certificate is expired, for another host, or from an unknown authority",
  unreachable: "No network route to the address",
  invalid_response: "The response is not valid HTTP",
  blocked_target: "The address is not public; for development on one machine, use `serve --allow-private-targets`",
  network: "Any other error; see the text after the colon",
  expired: "The 3 days of retries passed without an attempt",
  endpoint_deleted: "The endpoint was deleted before the delivery succeeded",
  endpoint_disabled: "The endpoint stayed disabled until the 3 days of retries had passed",
  event_expired: "The event is older than 30 days and was deleted",
  event_damaged: "The stored event does not match its checksum: the database file is damaged",
  secret_damaged: "The stored signing secret cannot be decrypted: rotate it with `service endpoints rotate-secret`",
  url_damaged: "The stored URL of the endpoint is not a URL: update it with `service endpoints update`",
  interrupted: "The platform stopped during the attempt, so the outcome is unknown; it is retried immediately",
};

process.stdout.write(
  `${[
    "# Errors",
    "Error codes of the API, the CLI, deliveries and the webhooks library, with causes and fixes.",
    "- [API errors](#api-errors)\n- [Exit codes](#exit-codes)\n- [Delivery attempts](#delivery-attempts)\n- [Signature errors](#signature-errors)",
    "## API errors",
    `An error response has problem details (RFC 9457, \`${PROBLEM_MEDIA_TYPE}\`). The meaning of a \`code\` never changes. \`detail\` is for people and may be reworded, \`errors\` lists invalid fields, and \`type\` links to a page of the platform about the code.`,
    `\`\`\`json\n${JSON.stringify(exampleProblem(), null, 2)}\n\`\`\``,
    "A 4xx response means that nothing was changed. After a 5xx response or none, the change may have been made. [Using the API](using-the-api.md#error-handling) says which requests to send again. The CLI does this for you.",
    `The CLI exits with ${exitCodes()}. See [Exit codes](#exit-codes).`,
    ...STATUSES.map(describeStatus),
    "## Exit codes",
    `\`\`\`text\n${textLines(TOPICS["exit-codes"]!.text.trim(), 80).join("\n")}\n\`\`\``,
    "## Delivery attempts",
    "An attempt with a complete response has a `status_code`. Any other has an `error`: a code, a colon and a description. Terminals show some codes as `refused`, `closed`, `not HTTP`, `no route` and `blocked`; pipes and JSON have the code. `service deliveries get dlv_…` shows all attempts of a delivery.",
    table("Code", "Meaning", ATTEMPT_ERRORS),
    "## Signature errors",
    "`verify` and the functions like it in `service-cli/webhooks` throw a `SignatureError` with one of these codes and the `status` of the response. The adapters respond themselves: 400, 405, 413, or 500 if the receiver is not configured correctly. They call [`onError`](webhooks-library.md#adapters) with each error.",
    "Respond with 400 to a delivery with a missing, malformed or wrong signature.",
    table("Code", "Meaning | Fix", SIGNATURE_ERRORS),
  ].join("\n\n")}\n`,
);

function describeStatus(status: number): string {
  const codes = CODES.filter((code) => ERRORS[code].status === status);
  return [
    `### ${status} ${STATUS_CODES[status]}`,
    ...codes.map((code) => {
      const { meaning, cause, remedy, guide } = ERROR_GUIDES[code];
      return `#### \`${code}\`\n\n${meaning}\n\n- Cause: ${cause}\n- Fix: ${remedy}\n- Guide: ${guide}`;
    }),
  ].join("\n\n");
}

/** Returns the CLI's exit codes for the statuses that have one of their own. */
function exitCodes(): string {
  const own = STATUSES.filter((status) => apiExitCode(status) !== EXIT_CODES.failed);
  return `${own.map((status) => `${apiExitCode(status)} after ${status}`).join(", ")}, and with ${EXIT_CODES.failed} after any other error`;
}

function exampleProblem(): Problem {
  const { status, title } = ERRORS.invalid_request;
  return {
    type: "http://127.0.0.1:4010/problems/invalid_request",
    title,
    status,
    code: "invalid_request",
    request_id: "req_4Vf8aTqz0bKm2sNw9XyRcd",
    ...ERROR_GUIDES.invalid_request.example,
  };
}

function table(
  key: string,
  columns: string,
  rows: Readonly<Record<string, string | readonly [string, string]>>,
): string {
  const lines = Object.entries(rows).map(([code, cells]) =>
    [`| \`${code}\``, ...[cells].flat().map((text) => text.replaceAll("|", "\\|")), ""].join(" | ").trim(),
  );
  const count = columns.split("|").length + 1;
  return [`| ${key} | ${columns} |`, `|${" --- |".repeat(count)}`, ...lines].join("\n");
}

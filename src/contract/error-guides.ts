import type { ErrorCode } from "./errors.ts";
import type { Problem } from "./schemas/problem.ts";

/** The explanation of an error code, on the page that `type` links to. Backticks mark code. */
interface ErrorGuide {
  meaning: string;
  cause: string;
  remedy: string;
  /** A link to the guide that explains more, as on the pages of docs/. */
  guide: string;
  /** Members of an example document, in addition to the common ones. */
  example: { detail: string } & Partial<Problem>;
}

export const ERROR_GUIDES: Readonly<Record<ErrorCode, ErrorGuide>> = {
  // Requests
  invalid_request: {
    meaning: "The request is not valid for this operation. Nothing was changed.",
    cause:
      "A field or query parameter has the wrong type or format, is out of range, missing, repeated or unknown. Unknown fields are rejected so that typos do not go unnoticed. Malformed HTTP requests get this code too.",
    remedy:
      "Read `errors`: each entry names a field, as a JSON pointer into the body (`/email`) or as `?name` for a query parameter, and says what is expected. Correct all of them and send the request again, with the same Idempotency-Key if it had one.",
    guide: "[Error handling](using-the-api.md#error-handling)",
    example: {
      detail: "phone must be an E.164 phone number, + and digits only, such as +442071838750.",
      errors: [
        {
          pointer: "/phone",
          code: "invalid_format",
          detail: "must be an E.164 phone number, + and digits only, such as +442071838750",
        },
      ],
    },
  },
  invalid_json: {
    meaning: "The body is not valid JSON, or is ambiguous.",
    cause:
      "Besides syntax errors, the API rejects duplicate keys, numbers that would lose digits or have more than 64 characters, bytes that are not UTF-8, unpaired surrogates, control characters, the keys `__proto__` and `prototype`, and more than 32 levels of nesting.",
    remedy: "Create the body with a JSON library. `detail` says what was found, and at which character.",
    guide: "[The first request](using-the-api.md#the-first-request)",
    example: { detail: 'The key "email" is repeated (at character 29).' },
  },
  invalid_cursor: {
    meaning: "The `cursor` does not belong to this list.",
    cause:
      "It was modified or truncated, comes from another list or environment, or the filters have changed: a cursor is only valid with the filters of its request.",
    remedy:
      "Send the `next_cursor` of the previous page unchanged, with the same filters. To change a filter, start again without a cursor.",
    guide: "[Pagination](using-the-api.md#pagination)",
    example: { detail: "The cursor is not valid for this list with these filters. Start again without it." },
  },
  invalid_header: {
    meaning: "A header is missing, repeated or contradicts the request.",
    cause:
      "There is no `Host`, there are two `Authorization` headers, `Content-Length` does not match the body, or a WebSocket requests an unknown subprotocol.",
    remedy: "Correct the header named in `detail`. Often a proxy adds a header of its own.",
    guide: "[Reverse proxies](proxies.md)",
    example: { detail: "Send exactly one Authorization header." },
  },
  invalid_idempotency_key: {
    meaning: "The Idempotency-Key has an invalid format.",
    cause: "It is empty, longer than 255 characters, or contains a space or a character that is not visible ASCII.",
    remedy: "Send 1 to 255 visible ASCII characters, with or without double quotes. A random UUID is a good key.",
    guide: "[Idempotency](using-the-api.md#idempotency)",
    example: { detail: "Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces." },
  },
  unsupported_version: {
    meaning: "The platform does not support the version in `Service-Version`.",
    cause: "The value is not a date in the form `YYYY-MM-DD`, or there is no version with this date.",
    remedy:
      "Use one of the dates in `supported`, also listed by `GET /v1/versions`, or omit the header to use the account's pinned version.",
    guide: "[Versions](concepts.md#versions)",
    example: {
      detail: 'Service-Version "2019-01-01" is not supported. Supported: 2026-11-01.',
      supported: ["2026-11-01"],
    },
  },
  not_found: {
    meaning: "The path does not exist, or the credential has no access to a resource with this ID.",
    cause:
      "The path or the ID is misspelled, the resource was deleted, or it belongs to another account or environment. The API does not distinguish these cases, so that it reveals nothing about other accounts.",
    remedy:
      "Check the ID, and that the key's environment (`sk_sandbox_…` or `sk_live_…`) is the one in which the resource was created. `detail` suggests the nearest path, or names the type of the ID.",
    guide: "[Accounts and environments](concepts.md#accounts-and-environments)",
    example: {
      detail:
        'The customer "cus_4Vf8aTqz0bKm2sNw9XyRcd" does not exist in this environment. Check the ID and the key\'s environment.',
    },
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this method.",
    cause: "For example, customers are updated with `PATCH`, not with `PUT`.",
    remedy: "Use one of the methods in the `Allow` header.",
    guide: "[Using the API](using-the-api.md)",
    example: { detail: "PUT is not allowed for this path. Allowed: DELETE, GET, HEAD, OPTIONS, PATCH." },
  },
  upgrade_required: {
    meaning: "This path accepts only WebSocket connections.",
    cause:
      "`service listen` sent `Upgrade: websocket`, and a proxy between it and the platform removed the header; nginx does so by default. Or a program requested `/v1/listen` without a WebSocket.",
    remedy:
      "Let the proxy pass `Upgrade` and `Connection` on: the guide Reverse proxies has the lines for nginx, Caddy and HAProxy.",
    guide: "[Reverse proxies](proxies.md)",
    example: {
      detail:
        "/v1/listen is a WebSocket, but the request has no Upgrade header. A proxy has probably removed it: let it pass Upgrade and Connection on.",
    },
  },
  request_timeout: {
    meaning: "The request was not complete within 30 seconds. The connection was closed.",
    cause:
      "The client stopped sending in the middle of the headers or the body, or the body is shorter than announced.",
    remedy: "Send it again. If it happens often, check for a slow proxy or a wrong Content-Length.",
    guide: "[Limits](deploying.md#limits)",
    example: { detail: "The request did not arrive completely within 30 seconds." },
  },
  idempotency_in_flight: {
    meaning: "Another request with this Idempotency-Key is still in progress.",
    cause: "The request was sent twice, or again before its first response arrived. Only the first one is executed.",
    remedy:
      "Wait for the time in `Retry-After`, then send the same request again to get the response of the first one.",
    guide: "[Idempotency](using-the-api.md#idempotency)",
    example: { detail: "The first request with this Idempotency-Key is still in progress." },
  },
  body_too_large: {
    meaning: "The body is larger than 1 MiB and was not read completely.",
    cause:
      "The request contains more data than any operation accepts. Metadata, for example, is not meant for documents.",
    remedy: "Store the data elsewhere and send a reference to it.",
    guide: "[Limits](deploying.md#limits)",
    example: { detail: "The maximum size of a body is 1 MiB, of a form 64 KiB." },
  },
  misdirected_request: {
    meaning: "The host in the request is not a name of this server.",
    cause:
      "A request over the loopback interface names a host that another site could have pointed to this machine (DNS rebinding), or a proxy on this machine forwards a name that the platform does not know.",
    remedy:
      "Use 127.0.0.1 or localhost. Behind a proxy on the same machine, start the platform with `service serve --public-url https://<name>`.",
    guide: "[Behind a proxy](deploying.md#behind-a-proxy)",
    example: {
      detail: "This server is not rebound.example. Use localhost or an address, or start it with --public-url.",
    },
  },
  uri_too_long: {
    meaning: "The URL has more than 8,192 characters.",
    cause: "Usually a query that keeps growing, or data that belongs in the body.",
    remedy: "Send fewer filters. Send data in the body of a POST or PATCH.",
    guide: "[Limits](deploying.md#limits)",
    example: { detail: "A URL may have at most 8192 characters." },
  },
  unsupported_media_type: {
    meaning: "The body is not declared as plain JSON.",
    cause: "`Content-Type` is missing or not JSON, names a charset other than UTF-8, or the body is compressed.",
    remedy: "Send `Content-Type: application/json` and a UTF-8 body without Content-Encoding.",
    guide: "[The first request](using-the-api.md#the-first-request)",
    example: { detail: "Send the body as JSON, with Content-Type: application/json (UTF-8)." },
  },
  idempotency_key_reused: {
    meaning: "This Idempotency-Key was used for a different request.",
    cause:
      "Within 24 hours the key was used on this path with another body or version. Each key stands for one intended effect. If the response contains a secret, another credential gets this error too: the secret is repeated only to the credential that created it.",
    remedy: "Use a new key for each new effect. Reuse a key only with exactly the same body and credential.",
    guide: "[Idempotency](using-the-api.md#idempotency)",
    example: {
      detail: "This Idempotency-Key was used with another body or version. Use a new key.",
    },
  },
  rate_limited: {
    meaning: "Too many requests. This one was not executed.",
    cause:
      "The credential has exceeded its rate limit (`RateLimit-Policy` contains its size), too many authentications from this address have failed, or a fault of the sandbox makes the request fail.",
    remedy:
      "Wait for the time in `Retry-After`. To stay below the limit, read `RateLimit`: `r` is the remaining number of requests, `t` the number of seconds until the limit is fully restored.",
    guide: "[Rate limited](troubleshooting.md#rate-limited-exit-code-6)",
    example: { detail: "The credential exceeded its rate limit: try again in 1 s." },
  },
  connection_limit: {
    meaning: "This process already holds the maximum of 100 listeners or 100 event streams for the environment.",
    cause:
      "Many machines are listening, or a program opens a connection for each of its tasks. A connection that was lost without notice counts for up to 45 seconds.",
    remedy:
      "Close connections that you do not need, or share one. `service listen` and the dashboard retry automatically, after `Retry-After`. For permanent consumers, use a webhook endpoint.",
    guide: "[Limits](deploying.md#limits)",
    example: { detail: "The environment has 100 listeners open, which is the maximum. Close one, or try again later." },
  },
  headers_too_large: {
    meaning: "The headers are larger than 16 KiB in total.",
    cause: "Usually cookies or tracing headers added by other software.",
    remedy:
      "Send only the headers that the API uses: Authorization, Content-Type, Idempotency-Key and Service-Version.",
    guide: "[Limits](deploying.md#limits)",
    example: { detail: "The request's headers may have at most 16 KiB together." },
  },
  internal_error: {
    meaning: "The platform failed unexpectedly. The change was either made completely or not at all.",
    cause:
      "A bug, or a fault of the sandbox: `service faults list`. The platform has logged a bug with the request ID; the response contains no details on purpose.",
    remedy:
      "Send the request again with the same Idempotency-Key, which prevents a second effect. If it fails again, report the `request_id` to the operator of the platform.",
    guide: "[Error handling](using-the-api.md#error-handling)",
    example: { detail: "Internal error. The platform has logged the cause." },
  },
  bad_gateway: {
    meaning: "A fault of the sandbox made the request fail. Nothing was changed.",
    cause:
      "You added the fault (`POST /v1/faults`). It imitates a proxy that cannot reach the API; the platform sends 502 in no other case.",
    remedy: "Send the request again, with the same Idempotency-Key. `service faults list` shows the faults.",
    guide: "[Test an API client with faults](faults.md)",
    example: {
      detail: "The fault flt_4Vf8aTqz0bKm2sNw9XyRcd makes this request fail on purpose. Nothing was changed.",
    },
  },
  unavailable: {
    meaning:
      "The platform cannot process the request now. Nothing was changed, unless `detail` says that the change may have been made.",
    cause:
      "The database is unavailable, full or too slow, or the platform is shutting down. Or a fault of the sandbox makes the request fail: `service faults list` shows it.",
    remedy:
      "Wait for the time in `Retry-After`, then send the same request again, with the same Idempotency-Key if it had one.",
    guide: "[Error handling](using-the-api.md#error-handling)",
    example: { detail: "The database is unavailable; nothing was changed." },
  },
  // Credentials, keys and apps
  missing_credential: {
    meaning: "The request has no credential.",
    cause: "The `Authorization` header is missing or empty. Most clients drop it when they follow a redirect.",
    remedy: "Send `Authorization: Bearer <key>` with an API key or an OAuth access token.",
    guide: "[Not signed in](troubleshooting.md#not-signed-in-exit-code-4)",
    example: { detail: "Send an API key or access token as Authorization: Bearer <key>." },
  },
  invalid_credential: {
    meaning: "This platform did not issue the credential.",
    cause:
      "It was truncated or mistyped (its last six characters are a checksum), belongs to another platform, or is not sent as `Bearer`. It may also be an access token that expired long ago.",
    remedy: "Copy the whole key, from `sk_` or `rk_` to the last character. An app refreshes its access token.",
    guide: "[Not signed in](troubleshooting.md#not-signed-in-exit-code-4)",
    example: { detail: "The key is incomplete or mistyped." },
  },
  revoked_credential: {
    meaning: "The credential was revoked.",
    cause:
      "A user revoked or rotated the key, it was found in a public place, or the user revoked the app's access. `detail` says when, and why if the reason is known.",
    remedy: "Use another key, or create one. If an app lost its access, the user must sign in again.",
    guide: "[Authentication](authentication.md)",
    example: { detail: "The key key_4Vf8aTqz0bKm2sNw9XyRcd was revoked at 2026-11-20T09:30:00Z." },
  },
  expired_credential: {
    meaning: "The credential has expired.",
    cause: "The key reached its `expires_at`, or the access token is older than an hour.",
    remedy: "Create a new key, or get a new access token with the refresh token.",
    guide: "[Authentication](authentication.md)",
    example: { detail: "The key key_4Vf8aTqz0bKm2sNw9XyRcd expired at 2026-11-20T00:00:00Z." },
  },
  invalid_signature: {
    meaning: "The report of leaked keys is not signed by a trusted key.",
    cause:
      "The signature or the key identifier is missing, the signature does not match the bytes of the body, or the platform was started without the signers' public keys.",
    remedy:
      "Sign the raw body with ECDSA, P-256 and SHA-256, and name the published key. The operator of the platform configures these keys with `service serve --leak-keys`.",
    guide: "[Credentials](security.md#credentials)",
    example: { detail: "The signature does not match the body." },
  },
  insufficient_scope: {
    meaning: "The credential is valid but lacks the required scope.",
    cause:
      "The operation needs a scope that the key or token does not have; write does not include read. A key cannot give a new key a scope that it lacks.",
    remedy: "Use a credential with the scope in `required_scope`, or create a key with it.",
    guide: "[Scopes](authentication.md#scopes)",
    example: {
      detail: "Requires the scope customers:write, which the credential does not have.",
      required_scope: "customers:write",
    },
  },
  ip_not_allowed: {
    meaning: "The key is valid but must not be used from this address.",
    cause:
      "The key has an `ip_allowlist` that does not contain the client's address. `X-Forwarded-For` counts only from a trusted proxy.",
    remedy: "Call from an address within the ranges, or create a key that includes your range.",
    guide: "[API keys](authentication.md#api-keys)",
    example: { detail: "The key key_4Vf8aTqz0bKm2sNw9XyRcd may not be used from 198.51.100.7." },
  },
  session_required: {
    meaning: "Only users who are signed in to the dashboard can do this.",
    cause:
      "The request has an API key or access token. Users, sessions and grants can only be managed by signed-in users.",
    remedy: "Sign in to the dashboard at `/dashboard`.",
    guide: "[Sessions and apps](dashboard.md#sessions-and-apps)",
    example: { detail: "Requires a user who is signed in to the dashboard, not a key or token." },
  },
  owner_required: {
    meaning: "Only an owner of the account can do this.",
    cause: "Members cannot invite or remove users.",
    remedy: "Ask an owner of the account.",
    guide: "[Roles](dashboard.md#roles)",
    example: { detail: "Ask an owner of the account to do this." },
  },
  cross_site_request: {
    meaning: "A browser sent its session cookie with a request that the dashboard did not make.",
    cause:
      "`Origin` or `Sec-Fetch-Site` names another site, or a change has neither. Such a request may come from a malicious site.",
    remedy: "Use the dashboard's own pages. A program uses an API key instead of a cookie.",
    guide: "[The dashboard](security.md#the-dashboard)",
    example: { detail: "Only the dashboard's own pages may use a session." },
  },
  exceeds_creator: {
    meaning: "The new key would have more permissions than the key that creates it.",
    cause:
      "A key with address ranges or an expiry date can only create keys within these ranges and with no later expiry date.",
    remedy: "Restrict the fields named in `errors`, or create the key with a credential that is not restricted.",
    guide: "[API keys](authentication.md#api-keys)",
    example: {
      detail: "The new key would exceed the key that creates it: ip_allowlist must be within 203.0.113.0/24.",
      errors: [{ pointer: "/ip_allowlist", code: "exceeds_creator", detail: "must be within 203.0.113.0/24" }],
    },
  },
  sandbox_only: {
    meaning: "The operation is available only in the sandbox, and the credential belongs to live mode.",
    cause: "Test clocks, manually created events and listening would be dangerous or misleading with live data.",
    remedy: "Use a sandbox key (`sk_sandbox_…` or `rk_sandbox_…`).",
    guide: "[Accounts and environments](concepts.md#accounts-and-environments)",
    example: { detail: '"Create a custom event" works with a sandbox credential only.' },
  },
  key_not_usable: {
    meaning: "The key to be rotated is revoked or expired.",
    cause: "Rotating it would restore access that was removed.",
    remedy: "Create a new key instead.",
    guide: "[API keys](authentication.md#api-keys)",
    example: { detail: "The key key_4Vf8aTqz0bKm2sNw9XyRcd is revoked: create another instead." },
  },
  app_is_public: {
    meaning: "A public OAuth app has no secret to rotate.",
    cause: "Apps that run on users' devices cannot keep a secret, so they have none.",
    remedy: "No action is needed: PKCE protects the app. For an app on a server, register one with `public: false`.",
    guide: "[Sign in with service](sign-in-with-service.md)",
    example: { detail: "The app app_4Vf8aTqz0bKm2sNw9XyRcd is public: it has no secret to rotate." },
  },
  // Resources
  email_taken: {
    meaning: "Another customer has this email address.",
    cause:
      "Email addresses are unique per environment, ignoring case. Often an earlier request created the customer and its response was lost.",
    remedy:
      "Use the customer named in `existing`. To repeat requests safely, send an Idempotency-Key: you get the first response again.",
    guide: "[Idempotency](using-the-api.md#idempotency)",
    example: {
      detail: "The email ada@example.com belongs to customer cus_4Vf8aTqz0bKm2sNw9XyRcd.",
      existing: "cus_4Vf8aTqz0bKm2sNw9XyRcd",
      errors: [{ pointer: "/email", code: "taken", detail: "another customer has this email" }],
    },
  },
  already_exists: {
    meaning: "Another object has this value, which is unique per environment, ignoring case.",
    cause:
      "Often an earlier request created the object and its response was lost. Of the current fields, only the email address is unique, which has the code `email_taken`.",
    remedy:
      "Use the object named in `existing`. To repeat requests safely, send an Idempotency-Key: you get the first response again.",
    guide: "[Idempotency](using-the-api.md#idempotency)",
    example: {
      detail: "The reference R-1042 belongs to order ord_4Vf8aTqz0bKm2sNw9XyRcd.",
      existing: "ord_4Vf8aTqz0bKm2sNw9XyRcd",
      errors: [{ pointer: "/reference", code: "taken", detail: "another order has this reference" }],
    },
  },
  invalid_transition: {
    meaning: "The resource cannot change from its current status to this one.",
    cause: "Only a pending object can get another status, and only once: a completed order cannot be canceled.",
    remedy:
      "Read `current`: if the resource already has the status, an earlier request changed it. Otherwise create a new resource.",
    guide: "[Objects](concepts.md#objects)",
    example: {
      detail: "Order ord_4Vf8aTqz0bKm2sNw9XyRcd is canceled: only a pending order can change to completed.",
      current: "canceled",
    },
  },
  endpoint_limit: {
    meaning: "The environment has 100 webhook endpoints, the maximum.",
    cause: "Endpoints were created and never deleted, often by tests or preview deployments.",
    remedy: "Delete unused endpoints. One endpoint can subscribe to many event types.",
    guide: "[Limits](deploying.md#limits)",
    example: { detail: "The environment already has the maximum of 100 endpoints. Delete one that you no longer use." },
  },
  endpoint_disabled: {
    meaning: "Nothing can be sent to a disabled endpoint.",
    cause: "A user disabled it, or it returned 410 to a delivery.",
    remedy: "Enable it (`PATCH` its `status` to `enabled`), then try again.",
    guide: "[Endpoint health](concepts.md#endpoint-health)",
    example: { detail: "The endpoint we_4Vf8aTqz0bKm2sNw9XyRcd is disabled. Enable it first." },
  },
  endpoint_deleted: {
    meaning: "The endpoint of the delivery was deleted.",
    cause: "It was deleted after the delivery was created. Its pending deliveries were canceled.",
    remedy: "Replay the event instead: it is sent to every endpoint that subscribes to it now.",
    guide: "[Replays](concepts.md#replays)",
    example: { detail: "The endpoint we_4Vf8aTqz0bKm2sNw9XyRcd was deleted. Replay the event to another endpoint." },
  },
  fault_limit: {
    meaning: "The sandbox has the maximum of 100 faults.",
    cause: "Faults stay until you remove them, even when their `times` are used up.",
    remedy: "Remove all with `service faults clear`, or reset the sandbox.",
    guide: "[Test an API client with faults](faults.md)",
    example: { detail: "The sandbox has 100 faults, which is the maximum. Remove some." },
  },
  snapshot_limit: {
    meaning: "The sandbox has too many snapshots, or too many objects for one.",
    cause: "A sandbox has at most 20 snapshots of at most 100,000 objects, such as customers and orders.",
    remedy: "Delete a snapshot, or save under the name of an existing one. Reset the sandbox if it is too large.",
    guide: "[Reset and restore the sandbox](test-states.md)",
    example: { detail: "The sandbox has 20 snapshots, which is the maximum. Delete one first." },
  },
  test_clock_advancing: {
    meaning: "The sandbox's test clock is already advancing.",
    cause: "Two requests moved it at the same time. Each makes its attempts in order, so the second one is rejected.",
    remedy:
      "Wait until `GET /v1/test_clock` no longer shows `advancing`, or cancel the advance (`POST /v1/test_clock/cancel`). Then advance by the remaining time.",
    guide: "[The test clock](concepts.md#the-test-clock)",
    example: { detail: "The test clock is already advancing. Wait until it has finished, or cancel the advance." },
  },
  delivery_not_cancelable: {
    meaning: "The delivery cannot be canceled.",
    cause: "It has succeeded or failed.",
    remedy: "Only pending deliveries can be canceled.",
    guide: "[Deliveries](concepts.md#deliveries)",
    example: { detail: "The delivery dlv_4Vf8aTqz0bKm2sNw9XyRcd cannot be canceled: it has succeeded." },
  },
  delivery_not_retryable: {
    meaning: "The delivery cannot be retried.",
    cause: "It has succeeded, or it was sent to a listener and none is connected that forwards to its target.",
    remedy: "To send the event again, replay it; `--forward-to` sends it to your app without a listener.",
    guide: "[Deliveries](concepts.md#deliveries)",
    example: {
      detail:
        "The delivery dlv_4Vf8aTqz0bKm2sNw9XyRcd cannot be retried: it has succeeded; replay the event to send it again.",
    },
  },
  event_damaged: {
    meaning: "The stored event is damaged and can no longer be read or sent.",
    cause: "Its body does not match its checksum: the database file was damaged. The platform has logged it.",
    remedy:
      "Read the resource itself: it has the current state. Operators: check the database with `service db check`.",
    guide: "[The database is damaged](troubleshooting.md#the-database-is-damaged)",
    example: {
      detail: "The stored event evt_4Vf8aTqz0bKm2sNw9XyRcd is damaged: its body does not match its checksum.",
    },
  },
  event_expired: {
    meaning: "The event is older than 30 days and can no longer be sent.",
    cause: "Events are retained for 30 days.",
    remedy: "Read the resource itself: it has the current state.",
    guide: "[Replays](concepts.md#replays)",
    example: { detail: "The event evt_4Vf8aTqz0bKm2sNw9XyRcd is older than 30 days and can no longer be replayed." },
  },
};

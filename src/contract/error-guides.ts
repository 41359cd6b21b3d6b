import type { ErrorCode, Problem } from "./errors.ts";

/** The explanation of an error code on the page that its `type` leads to. Backticks mark code. */
export interface ErrorGuide {
  meaning: string;
  cause: string;
  remedy: string;
  /** Members of an example document besides those of every one. */
  example: { detail: string } & Partial<Problem>;
}

/** A guide for every code of the table in `errors.ts`. */
export const ERROR_GUIDES: Readonly<Record<ErrorCode, ErrorGuide>> = {
  // The request itself
  invalid_request: {
    meaning: "The request was read, and something in it is not what the operation takes. Nothing was changed.",
    cause:
      "A field or a query parameter has the wrong type or form, lies outside its range, is missing, is given twice, or is unknown. Unknown fields are refused, never ignored, so that a misspelling cannot go unnoticed. Text that is not HTTP at all is answered with this code too.",
    remedy:
      "Read `errors`: each entry names one field, by a JSON pointer into the body (`/email`) or as `?name` in the query, and says what is expected. Correct them all, then send the request again, under the same Idempotency-Key if it had one.",
    example: {
      detail: "phone: must be an E.164 phone number, + and digits alone, such as +442071838750",
      errors: [
        {
          pointer: "/phone",
          code: "invalid_format",
          detail: "must be an E.164 phone number, + and digits alone, such as +442071838750",
        },
      ],
    },
  },
  invalid_json: {
    meaning: "The body is not JSON that can be taken without guessing.",
    cause:
      "Besides plain mistakes of syntax, these are refused: a key given twice in one object, a number that would lose digits, bytes that are not UTF-8, half of a surrogate pair, control characters, the keys `__proto__` and `prototype`, more than 32 levels of nesting, and numbers of more than 64 characters.",
    remedy:
      "Build the body with a JSON library instead of by hand. `detail` says what was found, and at which character.",
    example: { detail: 'The key "email" is given twice (at character 29).' },
  },
  invalid_cursor: {
    meaning: "The `cursor` of a list does not belong to the list that was asked for.",
    cause:
      "It was edited or cut off, was made by another list or in another environment, or the filters beside it were changed: a cursor holds only for the filters that it was made with.",
    remedy:
      "Send `next_cursor` of the page before, as it is, with the same filters. To change a filter, start again without a cursor.",
    example: { detail: "The cursor was not made for this list with these filters: start again without it." },
  },
  invalid_header: {
    meaning: "A header of the request is missing, repeated or contradicts the rest.",
    cause:
      "There is no `Host`, there are two `Authorization` headers, `Content-Length` does not fit the body, or a WebSocket offers another subprotocol.",
    remedy: "Correct the header that `detail` names. A common cause is a proxy that adds a header of its own.",
    example: { detail: "Send exactly one Authorization header." },
  },
  invalid_idempotency_key: {
    meaning: "The Idempotency-Key cannot be used as one.",
    cause: "It is empty, longer than 255 characters, or holds a space or a character that is not visible ASCII.",
    remedy: "Send 1 to 255 visible ASCII characters, bare or in double quotes. A random UUID is a good key.",
    example: { detail: "Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces." },
  },
  unsupported_version: {
    meaning: "The platform does not speak the version that `Service-Version` names.",
    cause: "The value is not a date of the form `YYYY-MM-DD`, or no version has that date.",
    remedy:
      "Choose one of the dates in `supported`, which `GET /v1/versions` lists too, or leave the header out: then the account's pinned version holds.",
    example: {
      detail: 'Service-Version "2019-01-01" is not supported. Supported: 2026-11-01.',
      supported: ["2026-11-01"],
    },
  },
  not_found: {
    meaning: "There is no such path, or nothing with this id for the credential that asked.",
    cause:
      "The path is misspelt, the id was, the resource was deleted, or it belongs to another account or to the other environment. The last two are answered like an id that never existed, so that nobody learns what others have.",
    remedy:
      "Compare the id with the one that was given out, and the environment of the key (`sk_sandbox_…` or `sk_live_…`) with the one in which the resource was made. `detail` names the nearest path, or what kind of id was sent.",
    example: { detail: 'No customer has the id "cus_06Fv3Tt0q1Yd8mWc5KxLrB" in this environment.' },
  },
  method_not_allowed: {
    meaning: "The path exists, and not with this method.",
    cause: "For example, customers are changed with `PATCH`, not with `PUT`.",
    remedy: "The `Allow` header lists the methods that the path has.",
    example: { detail: "PUT is not possible here. Allowed: GET, PATCH, DELETE." },
  },
  request_timeout: {
    meaning: "The request did not arrive completely within 30 seconds, and the connection was closed.",
    cause: "The client stopped in the middle of its headers or its body, or sends a shorter body than it announced.",
    remedy: "Send it again. If it happens often, look at what lies between: a slow proxy, or a wrong Content-Length.",
    example: { detail: "The request did not arrive completely within 30 seconds." },
  },
  idempotency_in_flight: {
    meaning: "Another request with the same Idempotency-Key has not ended yet.",
    cause:
      "The request was sent twice at once, or sent again before its first answer came. Only the first is carried out.",
    remedy:
      "Wait as long as `Retry-After` says, then send the same request again: the answer is that of the first one.",
    example: { detail: "The first request with this Idempotency-Key still runs." },
  },
  body_too_large: {
    meaning: "The body is larger than 1 MiB, and was not read to its end.",
    cause: "The request carries far more than any operation takes; metadata, for one, is not a place for documents.",
    remedy: "Send less: keep the data where it belongs, and a reference to it here.",
    example: { detail: "A body may have at most 1 MiB, a form 64 KiB." },
  },
  misdirected_request: {
    meaning: "The request names a host that this server is not.",
    cause:
      "A request over the loopback interface names a host that another site could have pointed to this machine (DNS rebinding), or a proxy on the same machine passes on a name that the platform was not told.",
    remedy:
      "Use 127.0.0.1 or localhost. Behind a proxy on the same machine start with `service serve --public-url https://<name>`.",
    example: {
      detail: "This server is not rebound.example. Use localhost or an address, or start it with --public-url.",
    },
  },
  uri_too_long: {
    meaning: "The URL has more than 8,192 characters.",
    cause: "Most often a query that grew by itself, or a body that was put into the URL.",
    remedy: "Send fewer filters. What is to be stored belongs in the body of a POST or PATCH.",
    example: { detail: "A URL may have at most 8192 characters." },
  },
  unsupported_media_type: {
    meaning: "The body is not announced as plain JSON.",
    cause: "`Content-Type` is missing or another one, names a charset other than UTF-8, or the body is compressed.",
    remedy: "Send `Content-Type: application/json` and the body in UTF-8, without a Content-Encoding.",
    example: { detail: "Send the body as JSON, with Content-Type: application/json (UTF-8)." },
  },
  idempotency_key_reused: {
    meaning: "This Idempotency-Key already stands for a different request.",
    cause:
      "Within 24 hours the key was used on this path with another body or version. A key stands for one intended effect, and the platform does not guess which of the two was meant. Where the response shows a secret, another credential gets this error too: the secret is repeated only to the one that created it.",
    remedy: "Use a new key for every new effect, and send it again only with exactly the same body and credential.",
    example: {
      detail: "This Idempotency-Key was used with another body, or by another credential for a secret: use a new key.",
    },
  },
  rate_limited: {
    meaning: "Too many requests came in too short a time. This one did nothing.",
    cause:
      "The credential has used up its bucket (`RateLimit-Policy` says how large it is), or many refused credentials came from one address.",
    remedy:
      "Wait as long as `Retry-After` says. To stay below the limit, watch `RateLimit`: `r` is what is left, `t` the seconds until the bucket is full again.",
    example: { detail: "This credential called too often: try again in 1 s." },
  },
  connection_limit: {
    meaning: "One process holds at most 100 listeners and 100 event streams open for an environment. All are taken.",
    cause:
      "Many machines listen at once, or a program opens a connection for each of its tasks. A connection that broke without a word keeps its place for up to 45 seconds.",
    remedy:
      "Close what nobody reads, or share one connection. `service listen` and the dashboard try again by themselves, after `Retry-After`. What a whole team needs all day is better sent to a webhook endpoint.",
    example: { detail: "The environment has 100 listeners open, as many as it may: close one, or try again later." },
  },
  headers_too_large: {
    meaning: "The headers are larger than 16 KiB together.",
    cause: "Most often cookies or tracing headers that other software added to the request.",
    remedy: "Send only what the API asks for: Authorization, Content-Type, Idempotency-Key and Service-Version.",
    example: { detail: "The request's headers may have at most 16 KiB together." },
  },
  internal_error: {
    meaning: "The platform made a mistake. The change was either made completely or not at all.",
    cause: "A defect, which the platform has logged under the request's id. The answer says no more on purpose.",
    remedy:
      "Send the request again with the same Idempotency-Key: nothing happens twice. If it fails again, report `request_id` to whoever runs the platform.",
    example: { detail: "The platform failed to answer; it has logged why." },
  },
  unavailable: {
    meaning:
      "The platform cannot take the request at the moment. Nothing was changed, unless `detail` says that the change may have been made.",
    cause: "The database does not answer or has no room, or the platform is being stopped.",
    remedy:
      "Wait as long as `Retry-After` says, then send the same request again, with the same Idempotency-Key if it had one.",
    example: { detail: "The database cannot take the request now; nothing was changed." },
  },
  // Credentials, keys and apps
  missing_credential: {
    meaning: "The request says nothing about who sent it.",
    cause:
      "There is no `Authorization` header, or it is empty. Redirects are a frequent reason: most clients drop it when they follow one.",
    remedy: "Send `Authorization: Bearer <key>` with an API key or an OAuth access token.",
    example: { detail: "Send an API key or access token as Authorization: Bearer <key>." },
  },
  invalid_credential: {
    meaning: "The credential is none that this platform has given out.",
    cause:
      "It was cut off or mistyped (its last six characters are a checksum, so that this is noticed), belongs to another platform, or is not sent as `Bearer`. An access token may also have ended so long ago that it is forgotten.",
    remedy: "Copy the whole key, from `sk_` or `rk_` to its last character. An app refreshes its access token.",
    example: { detail: "This is not a complete key: it was mistyped or cut off." },
  },
  revoked_credential: {
    meaning: "The credential was valid once, and was ended for good.",
    cause:
      "Somebody revoked or rolled the key, it was found in public and ended for safety, or the user took the app's access back. `detail` says when, and why where a reason is known.",
    remedy: "Use another key, or create one. Where an app lost its access, the user has to sign in again.",
    example: { detail: "The key key_06Fv3Tt0q1Yd8mWc5KxLrB was revoked at 2026-11-20T09:30:00Z." },
  },
  expired_credential: {
    meaning: "The credential had a last day, and it is over.",
    cause: "The key was made with `expires_at`, or the access token is older than an hour.",
    remedy: "Create another key, or get a new access token with the refresh token.",
    example: { detail: "The key key_06Fv3Tt0q1Yd8mWc5KxLrB expired at 2026-11-20T00:00:00Z." },
  },
  invalid_signature: {
    meaning: "A report of leaked keys is not signed by anybody whom the platform trusts.",
    cause:
      "The signature or the key's identifier is missing, does not fit the bytes of the body, or the platform was started without the signers' public keys.",
    remedy:
      "Sign the raw body with ECDSA over P-256 and SHA-256, and name the published key. Whoever runs the platform sets those keys by `service serve --leak-keys`.",
    example: { detail: "The signature does not fit the body." },
  },
  insufficient_scope: {
    meaning: "The credential is valid, and may not do this.",
    cause:
      "The operation needs a scope that the key or token was not given; write does not imply read. A key cannot give a new key a scope that it lacks itself.",
    remedy: "Use a credential that has the scope in `required_scope`, or create a key with it.",
    example: {
      detail: "This needs the scope customers:write, which the credential does not have.",
      required_scope: "customers:write",
    },
  },
  ip_not_allowed: {
    meaning: "The key is valid, and may not be used from this address.",
    cause:
      "The key has an `ip_allowlist`, and the connection comes from outside of it. The address of the connection counts, not what `X-Forwarded-For` says.",
    remedy: "Call from an address in one of the ranges, or create a key with the range that you call from.",
    example: { detail: "The key key_06Fv3Tt0q1Yd8mWc5KxLrB may not be used from 198.51.100.7." },
  },
  session_required: {
    meaning: "Only a person who is signed in to the dashboard may do this.",
    cause:
      "An API key or access token was sent. People, their sessions and what they allow apps are nobody else's matter.",
    remedy: "Sign in and use the dashboard, at `/dashboard`.",
    example: { detail: "This takes a person who is signed in to the dashboard, not a key or token." },
  },
  owner_required: {
    meaning: "You are signed in, and only an owner of the account may do this.",
    cause: "Members cannot invite or remove people.",
    remedy: "Ask an owner of the account.",
    example: { detail: "Ask an owner of the account to do this." },
  },
  cross_site_request: {
    meaning: "A browser sent its session cookie with a request that the dashboard did not make.",
    cause:
      "`Origin` or `Sec-Fetch-Site` names another site, or a change came without either. That is how one site would act in another's name.",
    remedy: "Use the dashboard's own pages. A program sends an API key instead of a cookie.",
    example: { detail: "A session may be used by the dashboard's own pages only." },
  },
  exceeds_maker: {
    meaning: "The new key would be allowed more than the key that makes it.",
    cause:
      "A key with an address range or an expiry can only make keys within that range and with no later expiry: else a restricted key could free itself.",
    remedy: "Narrow the fields that `errors` names, or create the key with a credential that is not restricted.",
    example: {
      detail: "The key would be allowed more than the one that makes it: ip_allowlist must lie within 203.0.113.0/24.",
      errors: [{ pointer: "/ip_allowlist", code: "exceeds_maker", detail: "must lie within 203.0.113.0/24" }],
    },
  },
  sandbox_only: {
    meaning: "The operation exists in the sandbox only, and the credential belongs to live.",
    cause: "Test clocks, events made by hand and listening would be dangerous or misleading with real data.",
    remedy: "Use a sandbox key (`sk_sandbox_…` or `rk_sandbox_…`).",
    example: { detail: '"Make an event by hand" works with a sandbox credential only.' },
  },
  key_not_usable: {
    meaning: "The key that is to be replaced cannot be used any more.",
    cause: "It is revoked or has expired; rolling would bring back what somebody ended.",
    remedy: "Create a new key instead.",
    example: { detail: "The key key_06Fv3Tt0q1Yd8mWc5KxLrB is revoked: create another instead." },
  },
  app_is_public: {
    meaning: "A public OAuth app has no secret that could be replaced.",
    cause: "Apps that run on their users' machines cannot keep a secret, so they are given none.",
    remedy: "Nothing is to be done: PKCE protects the app. For an app on a server, register one with `public: false`.",
    example: { detail: "The app app_06Fv3Tt0q1Yd8mWc5KxLrB is public: it has no secret to rotate." },
  },
  // Resources
  email_taken: {
    meaning: "Another customer of the account has this email address.",
    cause:
      "Addresses are unique within an account and environment, and are compared without regard to case. Often the customer was created by an earlier request whose answer was lost.",
    remedy:
      "Use the customer that `existing` names. To make repeated creations safe, send an Idempotency-Key: the first answer comes again.",
    example: {
      detail: "The email ada@example.com belongs to customer cus_06Fv3Tt0q1Yd8mWc5KxLrB.",
      existing: "cus_06Fv3Tt0q1Yd8mWc5KxLrB",
      errors: [{ pointer: "/email", code: "taken", detail: "another customer has this email" }],
    },
  },
  invalid_transition: {
    meaning: "The resource is not in a status from which it could change like this.",
    cause: "Only a pending order can be completed or canceled, and only a pending payment can succeed or fail.",
    remedy:
      "Read `current`: where it is already the wanted status, an earlier request did it. Otherwise create a new one.",
    example: {
      detail: "Order ord_06Fv3Tt0q1Yd8mWc5KxLrB is canceled: only a pending order can be completed.",
      current: "canceled",
    },
  },
  endpoint_limit: {
    meaning: "The environment has 100 webhook endpoints, and can have no more.",
    cause: "Endpoints were registered and never removed, often by tests or preview deployments.",
    remedy: "Delete endpoints that nobody uses any more. One endpoint can subscribe to many event types.",
    example: { detail: "An environment has at most 100 endpoints: delete one that is no longer used." },
  },
  endpoint_disabled: {
    meaning: "Nothing can be sent to the endpoint, because it is disabled.",
    cause: "Somebody disabled it, or its receiver answered 410 to a delivery.",
    remedy: "Enable it (`PATCH` its `status` to `enabled`), then try again.",
    example: { detail: "The endpoint we_06Fv3Tt0q1Yd8mWc5KxLrB is disabled: enable it first." },
  },
  endpoint_deleted: {
    meaning: "The endpoint that the delivery was for does not exist any more.",
    cause: "It was deleted after the delivery was made; its pending deliveries ended as failed.",
    remedy: "Replay the event instead: it goes to every endpoint that subscribes to it now.",
    example: { detail: "The endpoint we_06Fv3Tt0q1Yd8mWc5KxLrB was deleted: nothing can be sent to it." },
  },
  test_clock_advancing: {
    meaning: "The sandbox's test clock is already on its way to another time.",
    cause: "Two requests moved it at once. Each has to make its attempts in order, so the second is rejected.",
    remedy:
      "Wait until `GET /v1/test_clock` does not show `advancing` any more, or stop the clock (`POST /v1/test_clock/cancel`), then advance it by what is still missing.",
    example: { detail: "The test clock is being moved: wait until that is done, or cancel it." },
  },
  delivery_not_retryable: {
    meaning: "The delivery cannot be made due again.",
    cause: "It has already succeeded, or it went to a listening session.",
    remedy: "To send the same event once more, replay it.",
    example: {
      detail:
        "The delivery dlv_06Fv3Tt0q1Yd8mWc5KxLrB cannot be retried: it has succeeded; replay the event to send it again.",
    },
  },
  event_expired: {
    meaning: "The event is older than 30 days and cannot be sent again.",
    cause: "The platform keeps an event for replay for 30 days.",
    remedy: "Read the resource itself through the API: it holds the present state.",
    example: { detail: "The event evt_06Fv3Tt0q1Yd8mWc5KxLrB is older than 30 days: it can no longer be sent." },
  },
};

import type { ErrorGuide } from "./guide.ts";

/** Refusals that any request may meet, whatever it is about. */
export const REQUEST_GUIDES = {
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
} as const satisfies Record<string, ErrorGuide>;

import type { ErrorGuide } from "./guide.ts";

/** Refusals that concern who calls, and what keys and apps may do. */
export const CREDENTIAL_GUIDES = {
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
} as const satisfies Record<string, ErrorGuide>;

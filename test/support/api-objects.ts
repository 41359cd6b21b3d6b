/** Whole objects of the API, for servers that stand in for the platform. */

export const TIME = "2026-11-01T10:00:00Z";

export const CUSTOMER = {
  id: "cus_1",
  object: "customer",
  email: "a@example.com",
  name: null,
  phone: null,
  metadata: {},
  livemode: false,
  created: TIME,
};

export const ENDPOINT = {
  id: "we_1",
  object: "webhook_endpoint",
  url: "https://example.com/webhooks",
  events: ["*"],
  description: null,
  status: "enabled",
  disabled_reason: null,
  disabled_at: null,
  health: { failing_since: null },
  livemode: false,
  created: TIME,
  header_names: [],
  secret_created: TIME,
  previous_secret_until: null,
};

export const API_KEY = {
  id: "key_1",
  object: "api_key",
  name: null,
  prefix: "sk_sandbox_a",
  last4: "9fQ2",
  scopes: [],
  ip_allowlist: [],
  expires_at: null,
  last_used: null,
  revoked_at: null,
  revoked_reason: null,
  livemode: false,
  created: TIME,
  created_by: null,
};

export const TEST_CLOCK = {
  object: "test_clock",
  now: TIME,
  offset_seconds: 0,
  reset_at: null,
  status: "idle",
  target: null,
  attempts: 0,
  succeeded: 0,
  failed: 0,
  remaining: 0,
};

/** The only page of a list. */
export const listOf = (...data: unknown[]) => ({ object: "list", data, has_more: false, next_cursor: null });

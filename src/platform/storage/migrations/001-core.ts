import type { Migration } from "./migration.ts";

/** Accounts and keys, the business objects, the event log, and who receives it. */
export const core: Migration = {
  number: 1,
  name: "core",
  statements: ({ id, integer, bytes, sequence, clustered }) => [
    `CREATE TABLE settings (name TEXT PRIMARY KEY, value ${bytes} NOT NULL)`,
    `CREATE TABLE accounts (
       id ${id} PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, created ${integer} NOT NULL)`,
    `CREATE TABLE environments (
       id INTEGER PRIMARY KEY, account_id ${id} NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
       UNIQUE (account_id, name))`,
    `CREATE TABLE api_keys (
       id ${id} PRIMARY KEY, environment INTEGER NOT NULL REFERENCES environments (id), name TEXT,
       digest ${bytes} NOT NULL UNIQUE, kind TEXT NOT NULL, prefix TEXT NOT NULL, last4 TEXT NOT NULL,
       scopes TEXT NOT NULL, ip_allowlist TEXT NOT NULL, expires_at ${integer}, last_used ${integer},
       revoked_at ${integer}, revoked_reason TEXT, created ${integer} NOT NULL)`,
    `CREATE INDEX api_keys_by_environment ON api_keys (environment, id)`,

    `CREATE TABLE customers (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, email TEXT NOT NULL,
       email_key TEXT NOT NULL, name TEXT, phone TEXT, metadata TEXT NOT NULL, created ${integer} NOT NULL,
       PRIMARY KEY (environment, id), UNIQUE (environment, email_key)) ${clustered}`,
    `CREATE TABLE orders (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, amount ${integer} NOT NULL,
       currency TEXT NOT NULL, status TEXT NOT NULL, customer ${id}, metadata TEXT NOT NULL, created ${integer} NOT NULL,
       PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX orders_by_status ON orders (environment, status, id)`,
    `CREATE INDEX orders_by_customer ON orders (environment, customer, id) WHERE customer IS NOT NULL`,
    `CREATE TABLE payments (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, amount ${integer} NOT NULL,
       currency TEXT NOT NULL, status TEXT NOT NULL, order_id ${id}, failure_code TEXT, metadata TEXT NOT NULL,
       created ${integer} NOT NULL, PRIMARY KEY (environment, id)) ${clustered}`,
    `CREATE INDEX payments_by_status ON payments (environment, status, id)`,
    `CREATE INDEX payments_by_order ON payments (environment, order_id, id) WHERE order_id IS NOT NULL`,

    `CREATE TABLE events (
       seq ${sequence}, environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL,
       type TEXT NOT NULL, object_id ${id}, created ${integer} NOT NULL, body TEXT NOT NULL)`,
    `CREATE UNIQUE INDEX events_by_id ON events (environment, id)`,
    `CREATE INDEX events_by_seq ON events (environment, seq)`,
    `CREATE INDEX events_by_type ON events (environment, type, id)`,
    `CREATE INDEX events_by_object ON events (environment, object_id, id)`,

    `CREATE TABLE webhook_endpoints (
       environment INTEGER NOT NULL REFERENCES environments (id), id ${id} NOT NULL, url TEXT NOT NULL,
       events TEXT NOT NULL, description TEXT, status TEXT NOT NULL, secret ${bytes} NOT NULL,
       secret_created ${integer} NOT NULL, previous_secret ${bytes}, previous_until ${integer},
       created ${integer} NOT NULL, PRIMARY KEY (environment, id))`,
    `CREATE TABLE listeners (
       id ${id} PRIMARY KEY, environment INTEGER NOT NULL REFERENCES environments (id), owner ${id} NOT NULL,
       device TEXT NOT NULL, secret ${bytes} NOT NULL, created ${integer} NOT NULL,
       UNIQUE (environment, owner, device))`,
    `CREATE TABLE idempotency_keys (
       environment INTEGER NOT NULL REFERENCES environments (id), method TEXT NOT NULL, path TEXT NOT NULL,
       key TEXT NOT NULL, fingerprint ${bytes} NOT NULL, status INTEGER NOT NULL, reply ${bytes} NOT NULL,
       created ${integer} NOT NULL, PRIMARY KEY (environment, path, key, method)) ${clustered}`,
  ],
};

import type { Migration } from "./migration.ts";

/** People, their sessions, and what they let apps do. Of every token, code, link and secret only a digest is kept. */
export const identity: Migration = {
  number: 3,
  name: "identity",
  statements: ({ id, integer, bytes }) => [
    `CREATE TABLE users (
       id ${id} PRIMARY KEY, account_id ${id} NOT NULL REFERENCES accounts (id), email TEXT NOT NULL,
       email_key TEXT NOT NULL UNIQUE, role TEXT NOT NULL, password TEXT, created ${integer} NOT NULL)`,
    `CREATE INDEX users_by_account ON users (account_id, id)`,
    `CREATE TABLE sessions (
       digest ${bytes} PRIMARY KEY, user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       by_link INTEGER NOT NULL, created ${integer} NOT NULL, expires_at ${integer} NOT NULL)`,
    `CREATE INDEX sessions_by_user ON sessions (user_id)`,
    `CREATE INDEX sessions_by_expiry ON sessions (expires_at)`,
    `CREATE TABLE sign_in_links (
       digest ${bytes} PRIMARY KEY, user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       invitation INTEGER NOT NULL, used_at ${integer}, created ${integer} NOT NULL, expires_at ${integer} NOT NULL)`,
    `CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id)`,
    `CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_at)`,

    // The command's own app belongs to no environment.
    `CREATE TABLE oauth_apps (
       id ${id} PRIMARY KEY, environment INTEGER REFERENCES environments (id), name TEXT NOT NULL,
       public INTEGER NOT NULL, redirect_uris TEXT NOT NULL, secret ${bytes} UNIQUE, created ${integer} NOT NULL)`,
    `CREATE INDEX oauth_apps_by_environment ON oauth_apps (environment, id)`,
    // What a person allowed an app: every token descends from one, and dies with it.
    `CREATE TABLE oauth_grants (
       id ${id} PRIMARY KEY, app_id ${id} NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
       user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       environment INTEGER NOT NULL REFERENCES environments (id), scopes TEXT NOT NULL, revoked_at ${integer},
       revoked_reason TEXT, created ${integer} NOT NULL)`,
    `CREATE INDEX oauth_grants_by_user ON oauth_grants (user_id, id)`,
    `CREATE INDEX oauth_grants_by_app ON oauth_grants (app_id)`,
    `CREATE TABLE oauth_codes (
       digest ${bytes} PRIMARY KEY, app_id ${id} NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
       user_id ${id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
       environment INTEGER NOT NULL REFERENCES environments (id), scopes TEXT NOT NULL, redirect_uri TEXT,
       challenge TEXT NOT NULL, used_at ${integer}, grant_id ${id}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX oauth_codes_by_app ON oauth_codes (app_id)`,
    `CREATE INDEX oauth_codes_by_user ON oauth_codes (user_id)`,
    `CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at)`,
    `CREATE TABLE access_tokens (
       id ${id} PRIMARY KEY, digest ${bytes} NOT NULL UNIQUE,
       grant_id ${id} NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE, scopes TEXT NOT NULL,
       prefix TEXT NOT NULL, last4 TEXT NOT NULL, revoked_at ${integer}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id, expires_at)`,
    // parent: the refresh token that this one followed. A used token is kept, so that its reuse is noticed.
    `CREATE TABLE refresh_tokens (
       digest ${bytes} PRIMARY KEY, grant_id ${id} NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
       parent ${bytes}, used_at ${integer}, replaced_at ${integer}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id, expires_at)`,
    `CREATE INDEX refresh_tokens_by_parent ON refresh_tokens (parent)`,
    `CREATE TABLE device_codes (
       digest ${bytes} PRIMARY KEY, user_code ${bytes} NOT NULL UNIQUE,
       app_id ${id} NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE, environment TEXT NOT NULL,
       scopes TEXT NOT NULL, status TEXT NOT NULL, user_id ${id} REFERENCES users (id) ON DELETE CASCADE,
       interval_ms ${integer} NOT NULL, polled_at ${integer}, created ${integer} NOT NULL,
       expires_at ${integer} NOT NULL)`,
    `CREATE INDEX device_codes_by_app ON device_codes (app_id)`,
    `CREATE INDEX device_codes_by_user ON device_codes (user_id)`,
    `CREATE INDEX device_codes_by_expiry ON device_codes (expires_at)`,
  ],
};

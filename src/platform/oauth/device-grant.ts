import type { FastifyInstance } from "fastify";
import { OAUTH_PATHS, type Scope } from "../../contract/scopes.ts";
import { addressName } from "../../network/addresses.ts";
import { html } from "../http/pages/html.ts";
import { type Page, seeOther, sendPage } from "../http/pages/page.ts";
import { type Parameters, queryOf } from "../http/pages/parameters.ts";
import { askToSignIn, consentPage, csrfField } from "./views.ts";
import { isSignedIn, type PageTools, type SignedIn } from "./browser-sessions.ts";
import {
  decideDeviceCode,
  type DeviceCodeRow,
  findDeviceCode,
  findPendingByUserCode,
  insertDeviceCode,
  notePoll,
  useDeviceCode,
} from "../storage/device-codes.ts";
import { type ClientRow, findClient } from "../storage/oauth-apps.ts";
import type { Random } from "../ports.ts";
import type { Vault } from "../security/vault.ts";
import { findEnvironmentNumber, findUser } from "../storage/accounts.ts";
import type { Database } from "../storage/database.ts";
import { environmentFor } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";
import { parseScopeNames } from "./scope-names.ts";
import { beginGrant, type GrantTools, type TokenResponse } from "./tokens.ts";

/** At most five wrong codes a minute, per user and per address: with that, 34 bits are safe for ten minutes. */
const WRONG_CODES = { burst: 5, refillSeconds: 60 };

/** Renders the form for device codes. The code is shown again with the question, to be compared. */
export function deviceRoutes(scope: FastifyInstance, tools: PageTools): void {
  const { database, vault, clock, createLimiter, clientAddress, browserSessions } = tools;
  const limiter = createLimiter("device codes", WRONG_CODES);

  scope.get(OAUTH_PATHS.device, async (request, reply) => {
    const query = queryOf(request.url);
    const browser = await browserSessions.of(request, reply);
    const result = query.get("result");
    if (result !== undefined) return sendPage(reply, 200, donePage(result === "approved"));
    if (!isSignedIn(browser)) return askToSignIn(reply, browserSessions, browser, request.url);
    return sendPage(reply, 200, codePage(browser, { code: query.text("user_code").slice(0, 20) }));
  });

  scope.post(OAUTH_PATHS.device, async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    if (!isSignedIn(browser)) return askToSignIn(reply, browserSessions, browser, OAUTH_PATHS.device);
    const typed = form.text("user_code").slice(0, 20);
    const showProblem = (status: number, problem: string) =>
      sendPage(reply, status, codePage(browser, { code: typed, problem }));
    const names = [browser.user.user_id, addressName(clientAddress(request.raw))];
    const taken = await Promise.all(names.map((name) => limiter.take(name)));
    const wait = Math.max(...taken.map((one) => one.wait));
    if (wait > 0) {
      void reply.header("Retry-After", String(wait));
      return showProblem(429, `Too many wrong codes: wait ${wait} seconds.`);
    }
    const code = readUserCode(typed);
    const digest = code === undefined ? undefined : userCodeDigest(vault, code);
    const row = digest === undefined ? undefined : await findPendingByUserCode(database, digest, clock.now());
    if (code === undefined || digest === undefined || row === undefined) {
      return showProblem(400, "No device is waiting with this code. It may have expired: check the device.");
    }
    await Promise.all(names.map((name) => limiter.release(name)));

    const decision = form.get("decision");
    if (decision !== "approve" && decision !== "deny") {
      return sendPage(
        reply,
        200,
        consentPage(browser, {
          client: (await findClient(database, row.app_id))!,
          scopes: JSON.parse(row.scopes) as Scope[],
          environment: row.environment,
          action: OAUTH_PATHS.device,
          userCode: showUserCode(code),
          here: `${OAUTH_PATHS.device}?user_code=${showUserCode(code)}`,
          outcome: html`Deny if your device shows another code, or if someone sent you this one.`,
        }),
      );
    }
    const status = decision === "approve" ? "approved" : "denied";
    const { user_id } = browser.user;
    const isDecided = await database.write((tx) => decideDeviceCode(tx, digest, status, user_id, clock.now()));
    if (!isDecided) return showProblem(400, "This code was already approved or denied.");
    return seeOther(reply, `${OAUTH_PATHS.device}?result=${status}`);
  });
}

/** Serves the page for entering the code that the device shows. */
function codePage(browser: SignedIn, form: { code: string; problem?: string }): Page {
  return {
    title: "Connect a device",
    body: html`<h1>Connect a device</h1>
      <p class="soft">Enter the code shown on your device or in your terminal.</p>
      ${form.problem !== undefined && html`<p class="notice bad" role="alert">${form.problem}</p>`}
      <form method="post" action="${OAUTH_PATHS.device}">
        ${csrfField(browser)}
        <label>
          Code
          <input
            class="code"
            name="user_code"
            required
            value="${form.code}"
            placeholder="XXXX-XXXX"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
          />
        </label>
        <button class="primary whole">Continue</button>
      </form>
      <section>
        <p class="soft">Signed in as ${browser.user.email}. Never type a code that somebody sent you.</p>
      </section>`,
  };
}

function donePage(approved: boolean): Page {
  return {
    title: approved ? "Device connected" : "Not connected",
    body: approved
      ? html`<h1>Device connected</h1>
          <p>Your device continues within a few seconds. You can close this page.</p>`
      : html`<h1>Not connected</h1>
          <p>Access was denied. You can close this page.</p>`,
  };
}

/** Consonants without Y: they spell no word and are not mistaken for digits (RFC 8628 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);

/** Eight letters: 34 bits, protected by a limit on wrong entries. */
function newUserCode(random: Random): string {
  let code = "";
  while (code.length < LENGTH) {
    const [byte] = random.bytes(1);
    // 240 is a multiple of 20, so every letter is equally likely.
    if (byte! < 240) code += LETTERS[byte! % LETTERS.length];
  }
  return code;
}

/** Normalizes a typed code: any case, with spaces or dashes. Returns undefined if it cannot be a code. */
export function readUserCode(text: string): string | undefined {
  const code = text.toUpperCase().replace(/[\s-]/g, "");
  return CODE.test(code) ? code : undefined;
}

/** Formats a code for display: two groups of four. */
export function showUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

const LIFE_SECONDS = 600;
const INTERVAL_SECONDS = 5;
/** RFC 8628 3.5: each early poll lengthens the interval by this. */
const PENALTY_MS = 5000;
/** A poll may be early by this much: the previous one may have been delayed on its way. */
const SLACK_MS = 500;

/** The stored form of a user code. */
export function userCodeDigest(vault: Vault, code: string): Buffer {
  return vault.digest(`user_code:${code}`);
}

/** Begins a sign-in on a device that has no browser. Returns the response of RFC 8628 3.2. */
export async function authorizeDevice(tools: GrantTools, baseUrl: string, client: ClientRow, form: Parameters) {
  const { database, vault, random, clock } = tools;
  const scopes = parseScopeNames(form.get("scope"));
  const environment = environmentFor(client, form);
  const deviceCode = Buffer.from(random.bytes(32)).toString("base64url");
  const created = clock.now();
  const row = {
    digest: vault.digest(deviceCode),
    app_id: client.id,
    environment,
    scopes: JSON.stringify(scopes),
    interval_ms: INTERVAL_SECONDS * 1000,
    created,
    expires_at: created + LIFE_SECONDS * 1000,
  };
  const userCode = await database.write(async (tx) => {
    for (;;) {
      const code = newUserCode(random);
      if (await insertDeviceCode(tx, { ...row, user_code: userCodeDigest(vault, code) })) return showUserCode(code);
    }
  });
  const page = `${baseUrl}${OAUTH_PATHS.device}`;
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: LIFE_SECONDS,
    interval: INTERVAL_SECONDS,
  };
}

/**
 * Handles a device's poll: returns tokens to a single poll once the user has allowed it, and throws the reason until
 * then.
 */
export async function pollDevice(tools: GrantTools, client: ClientRow, form: Parameters): Promise<TokenResponse> {
  const { database, vault, clock } = tools;
  const code = form.get("device_code");
  if (code === undefined) throw new OAuthError("invalid_request", "device_code is missing");
  const row = await findDeviceCode(database, vault.digest(code));
  if (row === undefined || row.app_id !== client.id || row.status === "used") throw invalidCode();
  const now = clock.now();
  if (row.expires_at <= now) throw new OAuthError("expired_token", "The code has expired: request a new one.");
  switch (row.status) {
    case "denied":
      throw new OAuthError("access_denied", "The user denied access.");
    case "pending":
      throw await notePending(database, row, now);
    case "approved":
      return redeem(tools, client, row, now);
  }
}

async function notePending(database: Database, row: DeviceCodeRow, now: number): Promise<OAuthError> {
  // Another process's clock can be a little ahead. A poll far in the future was made before the clock was set back.
  const apart = row.polled_at === null ? Infinity : Math.abs(now - row.polled_at);
  const early = apart < row.interval_ms - SLACK_MS;
  await database.write((tx) => notePoll(tx, row.digest, now, early ? PENALTY_MS : 0));
  if (!early) return new OAuthError("authorization_pending", "The user has not approved or denied access yet.");
  return new OAuthError("slow_down", `Wait ${(row.interval_ms + PENALTY_MS) / 1000} seconds between polls.`);
}

async function redeem(tools: GrantTools, client: ClientRow, row: DeviceCodeRow, now: number): Promise<TokenResponse> {
  const { database, newId } = tools;
  const response = await database.write(async (tx) => {
    const user = await findUser(tx, row.user_id!);
    if (user === undefined || !(await useDeviceCode(tx, row.digest, now))) return undefined;
    const id = newId("oauth_grant", now);
    const environment = await findEnvironmentNumber(tx, user.account_id, row.environment);
    const owner = { app_id: client.id, user_id: user.id, environment };
    return beginGrant(tx, tools, { id, ...owner, scopes: row.scopes, created: now });
  });
  if (response === undefined) throw invalidCode();
  return response;
}

function invalidCode(): OAuthError {
  return new OAuthError("invalid_grant", "The device code is unknown or was used.");
}

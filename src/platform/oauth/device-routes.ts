import type { FastifyInstance } from "fastify";
import { OAUTH_PATHS, type Scope } from "../../contract/scopes.ts";
import { addressName } from "../../network/addresses.ts";
import { html } from "../http/pages/html.ts";
import { seeOther, sendPage, type Page } from "../http/pages/page.ts";
import { queryOf } from "../http/pages/parameters.ts";
import { signInPage, csrfField } from "./views.ts";
import { isSignedIn, type PageTools, type SignedIn } from "./browser-sessions.ts";
import { decideDeviceCode, findPendingByUserCode } from "../storage/device-codes.ts";
import { findClient } from "../storage/oauth-apps.ts";
import { consentPage } from "./consent-view.ts";
import { readUserCode, showUserCode, userCodeDigest } from "./device-grant.ts";

/** At most five wrong codes a minute, per user and per address: with that, 34 bits are safe for ten minutes. */
const WRONG_CODES = { burst: 5, refillSeconds: 60 };

/** Renders the form for device codes. The code is shown again with the question, to be compared. */
export function deviceRoutes(
  scope: FastifyInstance,
  { database, vault, clock, createLimiter, clientAddress, browserSessions }: PageTools,
): void {
  const limiter = createLimiter("device codes", WRONG_CODES);

  scope.get(OAUTH_PATHS.device, async (request, reply) => {
    const query = queryOf(request.url);
    const browser = await browserSessions.of(request, reply);
    const result = query.get("result");
    if (result !== undefined) return sendPage(reply, 200, donePage(result === "approved"));
    if (!isSignedIn(browser)) return sendPage(reply, 200, signInPage(browser, { next: request.url }));
    return sendPage(reply, 200, codePage(browser, { code: query.text("user_code").slice(0, 20) }));
  });

  scope.post(OAUTH_PATHS.device, async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    if (!isSignedIn(browser)) return sendPage(reply, 200, signInPage(browser, { next: OAUTH_PATHS.device }));
    const typed = form.text("user_code").slice(0, 20);
    const names = [browser.user.user_id, addressName(clientAddress(request.raw))];
    const taken = await Promise.all(names.map((name) => limiter.take(name)));
    const wait = Math.max(...taken.map((one) => one.wait));
    if (wait > 0) {
      void reply.header("Retry-After", String(wait));
      const problem = `Too many wrong codes: wait ${wait} seconds.`;
      return sendPage(reply, 429, codePage(browser, { code: typed, problem }));
    }
    const code = readUserCode(typed);
    const digest = code === undefined ? undefined : userCodeDigest(vault, code);
    const row = digest === undefined ? undefined : await findPendingByUserCode(database, digest, clock.now());
    if (code === undefined || digest === undefined || row === undefined) {
      const problem = "No device is waiting with this code. It may have expired: check the device.";
      return sendPage(reply, 400, codePage(browser, { code: typed, problem }));
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
    if (!isDecided) {
      return sendPage(
        reply,
        400,
        codePage(browser, { code: typed, problem: "This code was already approved or denied." }),
      );
    }
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

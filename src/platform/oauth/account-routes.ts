import type { FastifyInstance, FastifyReply } from "fastify";
import { problemOfPassword } from "../domain/passwords.ts";
import { isEmail } from "../http/formats.ts";
import { html, type Html } from "../http/pages/html.ts";
import { type Page, PageError, seeOther, sendPage } from "../http/pages/page.ts";
import { queryOf } from "../http/pages/parameters.ts";
import { changeEmail, replaceHash } from "../storage/accounts.ts";
import { deleteLinksOfUser, deleteSessionsOfUser } from "../storage/sessions.ts";
import { isSignedIn, type PageTools, type SignedIn } from "./browser-sessions.ts";
import { ACCOUNT, askToSignIn, buttonForm, csrfField, emailInput } from "./views.ts";

/** How long a user who followed a link may set a password without knowing the old one. */
const LINK_TRUST_MS = 15 * 60_000;
const WRONG_PASSWORDS = { burst: 5, refillSeconds: 60 };

/** Serves the page for a user's own sign-in details. */
export function accountRoutes(scope: FastifyInstance, tools: PageTools): void {
  const { database, clock, createLimiter, browserSessions, passwords } = tools;
  const limiter = createLimiter("passwords", WRONG_PASSWORDS);

  const asksPassword = ({ user }: SignedIn) =>
    user.password !== null && !(user.by_link === 1 && clock.now() - user.created < LINK_TRUST_MS);

  const show = (reply: FastifyReply, status: number, browser: SignedIn, more: Partial<AccountView> = {}) =>
    sendPage(reply, status, accountPage(browser, { asksPassword: asksPassword(browser), ...more }));

  scope.get(ACCOUNT, async (request, reply) => {
    const browser = await browserSessions.of(request, reply);
    if (!isSignedIn(browser)) return askToSignIn(reply, browserSessions, browser, ACCOUNT);
    const saved = queryOf(request.url).get("saved") !== undefined;
    return show(reply, 200, browser, { notice: saved ? { good: true, text: "Saved." } : undefined });
  });

  scope.post("/account/details", async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    if (!isSignedIn(browser)) return seeOther(reply, "/sign-in");
    const { user } = browser;
    const email = form.text("email").trim();
    const password = form.get("new_password");
    const showError = (status: number, text: string) =>
      show(reply, status, browser, { notice: { good: false, text }, email });
    if (asksPassword(browser)) {
      const { wait } = await limiter.take(user.user_id);
      if (wait > 0) {
        void reply.header("Retry-After", String(wait));
        return showError(429, `Too many wrong passwords: wait ${wait} seconds.`);
      }
      if (!(await passwords.verify(form.text("current_password"), user.password))) {
        return showError(403, "The current password is wrong.");
      }
      await limiter.release(user.user_id);
    }
    if (email !== user.email && !isEmail(email)) return showError(400, "Enter a valid email address.");
    const problem = password === undefined ? undefined : problemOfPassword(password, email);
    if (problem !== undefined) return showError(400, problem);
    const hash = password === undefined ? undefined : await passwords.hash(password);
    const token = await database.write(async (tx) => {
      if (!(await replaceHash(tx, user.user_id, user.password, hash ?? user.password))) {
        const detail = "Nothing was saved. Sign in again with the new password.";
        throw new PageError(403, "The password was changed", detail);
      }
      if (!(await changeEmail(tx, user.user_id, email, email.toLowerCase()))) return undefined;
      if (hash === undefined) return browser.token;
      await deleteSessionsOfUser(tx, user.user_id);
      await deleteLinksOfUser(tx, user.user_id);
      return browserSessions.begin(tx, browser, user.user_id, false);
    });
    if (token === undefined) return showError(409, "Another user has that email address.");
    if (token !== browser.token) browserSessions.admit(reply, token);
    return seeOther(reply, `${ACCOUNT}?saved=1`);
  });
}

interface AccountView {
  /** True if changing the sign-in details requires the current password. */
  asksPassword: boolean;
  notice?: { good: boolean; text: string } | undefined;
  /** Value of the email field, if it differs from the user's own address. */
  email?: string | undefined;
}

function accountPage(browser: SignedIn, view: AccountView): Page {
  const { user } = browser;
  return {
    title: user.account_name,
    body: html`<a class="back" href="/dashboard">← Dashboard</a>
      <div class="top">
        <h1>Password & sign-in</h1>
        ${buttonForm(browser, "/sign-out", "Sign out")}
      </div>
      <p class="soft">Signed in as ${user.email}</p>
      ${
        view.notice !== undefined &&
        html`<p class="notice ${view.notice.good ? "good" : "bad"}" role="status">${view.notice.text}</p>`
      }
      ${details(browser, view)}
      <section>
        <p class="soft">
          Users, sessions and authorized apps are on <a href="/dashboard/sandbox/people">Team & access</a>.
        </p>
      </section>`,
  };
}

function details(browser: SignedIn, { asksPassword, email }: AccountView): Html {
  const first = browser.user.password === null;
  return html`<section>
    <h2>${first ? "Set a password" : "Email and password"}</h2>
    <p class="soft">
      ${
        first
          ? "Until you set one, you can sign in with one-time links only."
          : "Changing your password signs you out everywhere else. Leave it empty to keep your current password."
      }
    </p>
    <form method="post" action="/account/details">
      ${csrfField(browser)}
      <label> Email ${emailInput(email ?? browser.user.email)} </label>
      <label>
        New password <span class="soft">at least 10 characters</span>
        <input
          name="new_password"
          type="password"
          autocomplete="new-password"
          minlength="10"
          ${first && html`required`}
        />
      </label>
      ${
        asksPassword &&
        html`<label>
          Current password
          <input name="current_password" type="password" autocomplete="current-password" required />
        </label>`
      }
      <button class="primary">Save</button>
    </form>
  </section>`;
}

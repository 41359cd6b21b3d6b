import { permissionsInWords } from "../../contract/scopes.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiKey } from "../../contract/schemas/api-key.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError } from "../domain/api-error.ts";
import { type Passwords, problemOfPassword } from "../domain/passwords.ts";
import { type InviteTools, inviteUser, removeUser } from "../domain/users.ts";
import { isEmail } from "../http/formats.ts";
import { html, type Html } from "../http/pages/html.ts";
import { environmentBadge, type Page, PageError, seeOther, sendPage } from "../http/pages/page.ts";
import { formOf, type Parameters, queryOf } from "../http/pages/parameters.ts";
import type { CreateLimiter } from "../security/rate-limit.ts";
import { changeEmail, replaceHash, type UserRow, usersOfAccount } from "../storage/accounts.ts";
import type { Database } from "../storage/database.ts";
import { type LiveGrant, liveGrantsOfUser, revokeGrantOfUser } from "../storage/oauth-grants.ts";
import { deleteLinksOfUser, deleteSessionsOfUser } from "../storage/sessions.ts";
import type { BrowserSessions, SignedIn } from "./browser-sessions.ts";
import { ACCOUNT, buttonForm, csrfField, emailInput, signInPage } from "./views.ts";

/** How long a user who followed a link may set a password without knowing the old one. */
const LINK_TRUST_MS = 15 * 60_000;
const WRONG_PASSWORDS = { burst: 5, refillSeconds: 60 };

/** Serves the user's own page: sign-in details, the account's team, authorized apps. */
export function accountRoutes(
  scope: FastifyInstance,
  tools: InviteTools & { database: Database; createLimiter: CreateLimiter },
  browserSessions: BrowserSessions,
  passwords: Passwords,
  { hasDashboard }: { hasDashboard: boolean },
): void {
  const { database, clock } = tools;
  const limiter = tools.createLimiter("passwords", WRONG_PASSWORDS);

  const asksPassword = ({ user }: SignedIn) =>
    user.password !== null && !(user.by_link === 1 && clock.now() - user.created < LINK_TRUST_MS);

  const show = async (reply: FastifyReply, status: number, browser: SignedIn, more: Partial<AccountView> = {}) => {
    const { user } = browser;
    const users = await usersOfAccount(database, user.account_id);
    const grants = await liveGrantsOfUser(database, user.user_id, clock.now());
    return sendPage(
      reply,
      status,
      accountPage(browser, { users, grants, asksPassword: asksPassword(browser), hasDashboard, ...more }),
    );
  };

  /** Runs for a signed-in browser with a valid form. */
  const onForm =
    (act: (browser: SignedIn, form: Parameters, reply: FastifyReply) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const browser = await browserSessions.of(request, reply);
      const form = formOf(request.body);
      browserSessions.assertCsrf(browser, form);
      if (browser.user === undefined) return seeOther(reply, "/sign-in");
      return act({ ...browser, user: browser.user }, form, reply);
    };

  scope.get(ACCOUNT, async (request, reply) => {
    const browser = await browserSessions.of(request, reply);
    if (browser.user === undefined) return sendPage(reply, 200, signInPage(browser, { next: ACCOUNT }));
    const saved = queryOf(request.url).get("saved") !== undefined;
    const notice = saved ? { good: true, text: "Saved." } : undefined;
    return show(reply, 200, { ...browser, user: browser.user }, { notice });
  });

  scope.post(
    "/account/details",
    onForm(async (browser, form, reply) => {
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
        if (!(await replaceHash(tx, user.user_id, user.password, hash ?? user.password))) throw changedMeanwhile();
        if (!(await changeEmail(tx, user.user_id, email, email.toLowerCase()))) return undefined;
        if (hash === undefined) return browser.token;
        await deleteSessionsOfUser(tx, user.user_id);
        await deleteLinksOfUser(tx, user.user_id);
        return browserSessions.begin(tx, browser, user.user_id, false);
      });
      if (token === undefined) return showError(409, "Another user has that email address.");
      if (token !== browser.token) browserSessions.admit(reply, token);
      return seeOther(reply, `${ACCOUNT}?saved=1`);
    }),
  );

  scope.post(
    "/account/people",
    onForm(async (browser, form, reply) => {
      assertOwner(browser);
      const email = form.text("email").trim();
      const showError = (status: number, text: string) =>
        show(reply, status, browser, { notice: { good: false, text } });
      if (!isEmail(email)) return showError(400, "Enter a valid email address.");
      try {
        const invited = await database.write((tx) => inviteUser(tx, tools, browser.user.account_id, email));
        return await show(reply, 200, browser, { invitation: { email, url: invited.invitation_url! } });
      } catch (error) {
        if (error instanceof ApiError && error.code === "email_taken") return showError(error.status, error.message);
        throw error;
      }
    }),
  );

  scope.post(
    "/account/people/remove",
    onForm(async (browser, form, reply) => {
      assertOwner(browser);
      try {
        const { account_id: account } = browser.user;
        const removed = await database.write((tx) => removeUser(tx, account, form.text("user"), clock.now()));
        const keys = removed.api_keys.data;
        return keys.length === 0 ? seeOther(reply, ACCOUNT) : await show(reply, 200, browser, { leftKeys: keys });
      } catch (error) {
        if (error instanceof ApiError && error.code === "not_found") return seeOther(reply, ACCOUNT);
        throw error;
      }
    }),
  );

  scope.post(
    "/account/apps/revoke",
    onForm(async ({ user }, form, reply) => {
      await database.write((tx) => revokeGrantOfUser(tx, user.user_id, form.text("grant"), clock.now()));
      return seeOther(reply, ACCOUNT);
    }),
  );
}

function changedMeanwhile(): PageError {
  return new PageError(403, "The password was changed", "Nothing was saved. Sign in again with the new password.");
}

function assertOwner({ user }: SignedIn): void {
  if (user.role === "owner") return;
  throw new PageError(403, "Owners only", "Ask an owner of the account to do this.");
}

interface AccountView {
  users: readonly UserRow[];
  grants: readonly LiveGrant[];
  /** True if changing the sign-in details requires the current password. */
  asksPassword: boolean;
  /** True if team and apps are in the dashboard. */
  hasDashboard: boolean;
  notice?: { good: boolean; text: string } | undefined;
  /** An invitation that was just created, shown once. */
  invitation?: { email: string; url: string } | undefined;
  /** Active API keys of a user who was just removed. */
  leftKeys?: readonly ApiKey[] | undefined;
  /** Value of the email field, if it differs from the user's own address. */
  email?: string | undefined;
}

function accountPage(browser: SignedIn, view: AccountView): Page {
  const { user } = browser;
  return {
    title: user.account_name,
    wide: !view.hasDashboard,
    body: html`<a class="back" href="/dashboard">← Dashboard</a>
      <div class="top">
        <h1>${view.hasDashboard ? "Password & sign-in" : user.account_name}</h1>
        ${buttonForm(browser, "/sign-out", "Sign out")}
      </div>
      <p class="soft">Signed in as ${user.email}</p>
      ${
        view.notice !== undefined &&
        html`<p class="notice ${view.notice.good ? "good" : "bad"}" role="status">${view.notice.text}</p>`
      }
      ${details(browser, view)}
      ${
        view.hasDashboard
          ? html`<section>
              <p class="soft">
                Users, sessions and authorized apps are on <a href="/dashboard/sandbox/people">Team & access</a>.
              </p>
            </section>`
          : [people(browser, view), apps(browser, view)]
      }`,
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

function people(browser: SignedIn, { users, invitation, leftKeys }: AccountView): Html {
  const isOwner = browser.user.role === "owner";
  return html`<section>
    <h2>Team</h2>
    <ul class="rows">
      ${users.map(
        ({ id, email, role, password }) =>
          html`<li>
            <span>${email} <span class="soft">${role}${password === null && " · has no password yet"}</span></span>
            ${isOwner && role === "member" && buttonForm(browser, "/account/people/remove", "Remove", { fields: { user: id } })}
          </li>`,
      )}
    </ul>
    ${
      leftKeys !== undefined &&
      html`<div class="notice bad" role="status">
        <p>The user was removed. API keys that they created still work; revoke those that nobody else needs:</p>
        ${leftKeys.map(
          ({ id, name, livemode }) =>
            html`<p>
              ${environmentBadge(livemode ? "live" : "sandbox")} <bdi>${name ?? "Unnamed"}</bdi> <code>${id}</code>
            </p>`,
        )}
      </div>`
    }
    ${
      invitation !== undefined &&
      html`<p class="notice good" role="status">
          Send this link to ${invitation.email}. It works once, for three days, and is not shown again.
        </p>
        <label>Invitation link <input class="link" readonly value="${invitation.url}" /></label>`
    }
    ${
      isOwner &&
      html`<form method="post" action="/account/people">
        ${csrfField(browser)}
        <label>
          Invite by email
          <input
            name="email"
            type="text"
            inputmode="email"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
            required
          />
        </label>
        <button>Invite</button>
      </form>`
    }
  </section>`;
}

function apps(browser: SignedIn, { grants }: AccountView): Html {
  return html`<section>
    <h2>Authorized apps</h2>
    ${grants.length === 0 && html`<p class="soft">No authorized apps.</p>`}
    <ul class="rows">
      ${grants.map(
        ({ id, app_name, environment_name, scopes, created }) =>
          html`<li>
            <span>
              <bdi>${app_name}</bdi> ${environmentBadge(environment_name)}<br />
              <span class="soft">
                ${permissionsInWords(JSON.parse(scopes) as string[])} · since ${formatTimestamp(created).slice(0, 10)}
              </span>
            </span>
            ${buttonForm(browser, "/account/apps/revoke", "Revoke", { fields: { grant: id } })}
          </li>`,
      )}
    </ul>
  </section>`;
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../domain/api-error.ts";
import { type Passwords, problemOfPassword } from "../domain/passwords.ts";
import { type InviteTools, inviteUser, removeUser } from "../domain/users.ts";
import { isEmail } from "../http/formats.ts";
import { formOf, type Parameters, queryOf } from "../http/pages/parameters.ts";
import { PageError, seeOther, sendPage } from "../http/pages/page.ts";
import type { Database } from "../storage/database.ts";
import type { CreateLimiter } from "../security/rate-limit.ts";
import { liveGrantsOfUser, revokeGrantOfUser } from "../storage/oauth-grants.ts";
import { deleteLinksOfUser, deleteSessionsOfUser } from "../storage/sessions.ts";
import { changeEmail, replaceHash, usersOfAccount } from "../storage/accounts.ts";
import { type AccountView, accountPage } from "./account-views.ts";
import { ACCOUNT } from "./home.ts";
import { signInPage } from "./views.ts";
import type { SignedIn, BrowserSessions } from "./browser-sessions.ts";

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

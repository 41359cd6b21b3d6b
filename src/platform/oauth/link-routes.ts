import type { FastifyInstance } from "fastify";
import { problemOfPassword } from "../domain/passwords.ts";
import type { Html } from "../http/pages/html.ts";
import { queryOf } from "../http/pages/parameters.ts";
import { PageError, seeOther, sendPage } from "../http/pages/page.ts";
import { accountOfUser, findUser, setPassword } from "../storage/accounts.ts";
import { findSignInLink, useSignInLink } from "../storage/sessions.ts";
import { commandLine, HOME, invitationPage } from "./views.ts";
import type { BrowserSession, PageTools } from "./browser-sessions.ts";

const LINK = 0;
const INVITATION = 1;
const CREATE_ANOTHER = "To print another one, run this command on the machine that runs this platform:";
const ASK_AGAIN = "Ask for a new invitation.";

/** Serves one-time links. They sign in at once; an invitation first asks for a password. */
export function linkRoutes(
  scope: FastifyInstance,
  { database, vault, clock, browserSessions, passwords }: PageTools,
): void {
  const find = (token: string, invitation: number) =>
    findSignInLink(database, vault.digest(token), clock.now()).then((link) =>
      link?.invitation === invitation ? link : undefined,
    );

  const invitation = async (browser: BrowserSession, token: string, problem?: string) => {
    const link = await find(token, INVITATION);
    const user = link === undefined ? undefined : await findUser(database, link.user_id);
    if (user === undefined) throw worthless(ASK_AGAIN);
    const account = (await accountOfUser(database, user.id))!.name;
    return invitationPage(browser, { token, email: user.email, account, problem });
  };

  // A prefetch of the browser, or a HEAD request, must not use up the link.
  scope.get("/sign-in/link", async (request, reply) => {
    if (String(request.headers["sec-purpose"] ?? "").includes("prefetch")) {
      throw new PageError(503, "Prefetching is not allowed", "This link works once: open it when you need it.");
    }
    const browser = await browserSessions.of(request, reply);
    const token = queryOf(request.url).text("token");
    const link = await find(token, LINK);
    if (link === undefined) {
      if (browser.user !== undefined) return seeOther(reply, HOME);
      throw worthless(CREATE_ANOTHER, commandLine(browser.linkCommand));
    }
    if (request.method === "HEAD") return seeOther(reply, HOME);
    const session = await database.write(async (tx) => {
      if (!(await useSignInLink(tx, link.digest, LINK, clock.now())))
        throw worthless(CREATE_ANOTHER, commandLine(browser.linkCommand));
      return browserSessions.begin(tx, browser, link.user_id, true);
    });
    browserSessions.admit(reply, session);
    return seeOther(reply, HOME);
  });

  scope.get("/invitation", async (request, reply) => {
    const browser = await browserSessions.of(request, reply);
    return sendPage(reply, 200, await invitation(browser, queryOf(request.url).text("token")));
  });

  scope.post("/invitation", async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    const token = form.text("token");
    const password = form.text("password");
    const link = await find(token, INVITATION);
    const user = link === undefined ? undefined : await findUser(database, link.user_id);
    if (link === undefined || user === undefined) throw worthless(ASK_AGAIN);
    const problem = problemOfPassword(password, user.email);
    if (problem !== undefined) return sendPage(reply, 400, await invitation(browser, token, problem));
    const hash = await passwords.hash(password);
    const session = await database.write(async (tx) => {
      if (!(await useSignInLink(tx, link.digest, INVITATION, clock.now()))) throw worthless(ASK_AGAIN);
      await setPassword(tx, user.id, hash);
      return browserSessions.begin(tx, browser, user.id, false);
    });
    browserSessions.admit(reply, session);
    return seeOther(reply, HOME);
  });
}

function worthless(advice: string, remedy?: Html): PageError {
  const detail = `It was already used, or has expired. ${advice}`;
  return new PageError(410, "This link is no longer valid", detail, {}, remedy);
}

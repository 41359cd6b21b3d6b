import type { FastifyInstance } from "fastify";
import { addressName } from "../../network/addresses.ts";
import { PageError, seeOther, sendPage } from "../http/pages/page.ts";
import {
  accountOfUser,
  findUser,
  findUserByEmail,
  replaceHash,
  setPassword,
  type UserRow,
} from "../storage/accounts.ts";
import { askToSignIn, commandLine, HOME, invitationPage, localPath, signInPage } from "./views.ts";
import type { BrowserSession, PageTools } from "./browser-sessions.ts";
import { problemOfPassword } from "../domain/passwords.ts";
import type { Html } from "../http/pages/html.ts";
import { queryOf } from "../http/pages/parameters.ts";
import { findSignInLink, useSignInLink } from "../storage/sessions.ts";

/** Failed sign-ins from one address. */
const PER_ADDRESS = { burst: 10, refillSeconds: 15 };
/** Failed sign-ins of one user from one address: wrong passwords from elsewhere do not lock the user out. */
const PER_USER_AND_ADDRESS = { burst: 5, refillSeconds: 60 };
/** Failed sign-ins of one user from all addresses: only reached by guessing from many networks. */
const PER_USER = { burst: 100, refillSeconds: 5 };
const LONGEST_PASSWORD = 1000;

/** Serves sign-in by email and password, and sign-out. */
export function signInRoutes(scope: FastifyInstance, tools: PageTools): void {
  const { database, createLimiter, clientAddress, browserSessions, passwords } = tools;
  const limiters = {
    address: createLimiter("sign-ins from an address", PER_ADDRESS),
    both: createLimiter("sign-ins of a user from an address", PER_USER_AND_ADDRESS),
    user: createLimiter("sign-ins of a user", PER_USER),
  };

  /** Returns the user, or undefined. An unknown email takes as long as a wrong password. Throws PageError 429. */
  const prove = async (emailKey: string, password: string, address: string): Promise<UserRow | undefined> => {
    const limits = [
      [limiters.address, address],
      [limiters.both, `${address} ${emailKey}`],
      [limiters.user, emailKey],
    ] as const;
    for (const [limiter, name] of limits) {
      const { wait } = await limiter.take(name);
      if (wait === 0) continue;
      const detail = `Wait ${wait} seconds, then try again.`;
      throw new PageError(429, "Too many attempts", detail, { "Retry-After": String(wait) });
    }
    const user = await findUserByEmail(database, emailKey);
    if (!(await passwords.verify(password, user?.password ?? null)) || user === undefined) return undefined;
    await Promise.all(limits.map(([limiter, name]) => limiter.release(name)));
    return user;
  };

  /** Begins a session. Returns undefined if the password was changed after it was proved. */
  const begin = async (browser: BrowserSession, { id, password: proved }: UserRow, password: string) => {
    const hash = passwords.isOutdated(proved!) ? await passwords.hash(password) : proved;
    return database.write(async (tx) =>
      (await replaceHash(tx, id, proved, hash)) ? browserSessions.begin(tx, browser, id, false) : undefined,
    );
  };

  scope.get("/sign-in", async (request, reply) => {
    const browser = await browserSessions.of(request, reply);
    if (browser.user !== undefined) return seeOther(reply, HOME);
    return askToSignIn(reply, browserSessions, browser, HOME);
  });

  scope.post("/sign-in", async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    const email = form.text("email").trim().slice(0, 400);
    const password = form.text("password");
    const next = localPath(form.get("next"));
    const address = addressName(clientAddress(request.raw));
    const user = password.length <= LONGEST_PASSWORD ? await prove(email.toLowerCase(), password, address) : undefined;
    const token = user && (await begin(browser, user, password));
    if (token === undefined) {
      void reply.header("WWW-Authenticate", 'Form realm="service"');
      const problem = "Incorrect email address or password.";
      return sendPage(reply, 401, signInPage(browser, { next, email, problem }));
    }
    browserSessions.admit(reply, token);
    return seeOther(reply, next);
  });

  scope.post("/sign-out", async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    await browserSessions.end(reply, browser);
    return seeOther(reply, form.get("next") === undefined ? "/sign-in" : localPath(form.get("next")));
  });
}

const LINK = 0;
const INVITATION = 1;
const CREATE_ANOTHER = "To print another one, run this command on the machine that runs this platform:";
const ASK_AGAIN = "Ask for a new invitation.";

/** Serves one-time links. They sign in at once; an invitation first asks for a password. */
export function linkRoutes(scope: FastifyInstance, { database, vault, clock, browserSessions, passwords }: PageTools) {
  const find = (token: string, invitation: number) =>
    findSignInLink(database, vault.digest(token), clock.now()).then((link) =>
      link?.invitation === invitation ? link : undefined,
    );

  const findInvited = async (token: string) => {
    const link = await find(token, INVITATION);
    const user = link && (await findUser(database, link.user_id));
    if (user === undefined) throw worthless(ASK_AGAIN);
    return user;
  };

  const invitation = async (browser: BrowserSession, token: string, { id, email }: UserRow, problem?: string) => {
    const account = (await accountOfUser(database, id))!.name;
    return invitationPage(browser, { token, email, account, problem });
  };

  // A prefetch of the browser, or a HEAD request, must not use up the link.
  scope.get("/sign-in/link", async (request, reply) => {
    if (String(request.headers["sec-purpose"] ?? "").includes("prefetch")) {
      throw new PageError(503, "Prefetching is not allowed", "This link works once: open it when you need it.");
    }
    const browser = await browserSessions.of(request, reply);
    const token = queryOf(request.url).text("token");
    const link = await find(token, LINK);
    const isWorthless = () => worthless(CREATE_ANOTHER, commandLine(browser.linkCommand));
    if (link === undefined) {
      if (browser.user !== undefined) return seeOther(reply, localPath(browserSessions.takeNext(request, reply)));
      throw isWorthless();
    }
    if (request.method === "HEAD") return seeOther(reply, HOME);
    const session = await database.write(async (tx) => {
      if (!(await useSignInLink(tx, link.digest, LINK, clock.now()))) throw isWorthless();
      return browserSessions.begin(tx, browser, link.user_id, true);
    });
    browserSessions.admit(reply, session);
    return seeOther(reply, localPath(browserSessions.takeNext(request, reply)));
  });

  scope.get("/invitation", async (request, reply) => {
    const browser = await browserSessions.of(request, reply);
    const token = queryOf(request.url).text("token");
    return sendPage(reply, 200, await invitation(browser, token, await findInvited(token)));
  });

  scope.post("/invitation", async (request, reply) => {
    const { browser, form } = await browserSessions.submitted(request, reply);
    const token = form.text("token");
    const password = form.text("password");
    const user = await findInvited(token);
    const problem = problemOfPassword(password, user.email);
    if (problem !== undefined) return sendPage(reply, 400, await invitation(browser, token, user, problem));
    const hash = await passwords.hash(password);
    const session = await database.write(async (tx) => {
      if (!(await useSignInLink(tx, vault.digest(token), INVITATION, clock.now()))) throw worthless(ASK_AGAIN);
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

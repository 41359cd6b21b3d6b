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
export function signInRoutes(
  scope: FastifyInstance,
  { database, createLimiter, clientAddress, browserSessions, passwords }: PageTools,
): void {
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
      if (wait > 0) throw tooMany(wait);
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
    const known = password.length <= LONGEST_PASSWORD;
    const user = known
      ? await prove(email.toLowerCase(), password, addressName(clientAddress(request.raw)))
      : undefined;
    const token = user && (await begin(browser, user, password));
    if (token === undefined) {
      void reply.header("WWW-Authenticate", 'Form realm="service"');
      return sendPage(
        reply,
        401,
        signInPage(browser, { next, email, problem: "Incorrect email address or password." }),
      );
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

function tooMany(seconds: number): PageError {
  return new PageError(429, "Too many attempts", `Wait ${seconds} seconds, then try again.`, {
    "Retry-After": String(seconds),
  });
}

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
      if (browser.user !== undefined) return seeOther(reply, localPath(browserSessions.takeNext(request, reply)));
      throw worthless(CREATE_ANOTHER, commandLine(browser.linkCommand));
    }
    if (request.method === "HEAD") return seeOther(reply, HOME);
    const session = await database.write(async (tx) => {
      if (!(await useSignInLink(tx, link.digest, LINK, clock.now())))
        throw worthless(CREATE_ANOTHER, commandLine(browser.linkCommand));
      return browserSessions.begin(tx, browser, link.user_id, true);
    });
    browserSessions.admit(reply, session);
    return seeOther(reply, localPath(browserSessions.takeNext(request, reply)));
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

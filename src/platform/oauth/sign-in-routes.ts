import type { FastifyInstance } from "fastify";
import { addressName } from "../../network/addresses.ts";
import { PageError, seeOther, sendPage } from "../http/pages/page.ts";
import { findUserByEmail, replaceHash, type UserRow } from "../storage/accounts.ts";
import { HOME, localPath, signInPage } from "./views.ts";
import type { BrowserSession, PageTools } from "./browser-sessions.ts";

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
    return sendPage(reply, 200, signInPage(browser, { next: HOME }));
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

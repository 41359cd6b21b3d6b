import { assertSameOrigin, type AuthorizationServer } from "../../../client/oauth/authorization-server.ts";
import {
  type Authorization,
  beginAuthorization,
  finishAuthorization,
  type TokenSet,
  type AuthorizationParameters,
} from "../../../client/oauth/authorization.ts";
import {
  type Callback,
  failurePage,
  type Loopback,
  openLoopback,
  type SuccessPage,
  successPage,
} from "../../../client/oauth/loopback.ts";
import { CLI_REDIRECT_PATH } from "../../../contract/scopes.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { announce, withinTime } from "./prompt.ts";

const DEFAULT_LIMIT_SECONDS = 300;

export interface BrowserSignIn {
  /** Whether to open a browser. */
  open: boolean;
  /** Port for the callback; undefined for a free one. */
  port: number | undefined;
  /** Maximum time to wait. */
  seconds: number | undefined;
  parameters: AuthorizationParameters;
  /** Stores the tokens. The returned text is shown on the page in the browser. */
  keep: (tokens: TokenSet) => Promise<SuccessPage>;
}

/** Signs in through a browser on this machine, which redirects to a port of this process (RFC 8252). */
export async function signInByBrowser(
  context: Context,
  server: AuthorizationServer,
  { open, port, seconds = DEFAULT_LIMIT_SECONDS, parameters, keep }: BrowserSignIn,
): Promise<void> {
  const loopback = await listen(context, port);
  try {
    const authorization = await beginAuthorization(server, { ...parameters, redirectUri: loopback.redirectUri });
    const arrival = loopback.callback(authorization.state);
    await show(context, server, authorization.url, open);
    const waiting = context.output.spinner.during("Waiting for the browser", withinTime(context, seconds, arrival));
    await finish(server, { authorization, callback: await waiting, keep });
  } finally {
    loopback.close();
  }
}

async function listen(context: Context, port = 0): Promise<Loopback> {
  try {
    return await openLoopback({
      path: CLI_REDIRECT_PATH,
      port,
      onRejection: (reason) => context.output.note(`Rejected a request to the callback URL: ${reason}. Still waiting.`),
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
    throw new UserError(
      `Cannot listen on port ${port}: ${code === "EACCES" ? "the port is privileged" : "the port is in use"}`,
      {
        hint: "Pass another --callback-port, or omit it to use a free port.",
        code: "port_taken",
        cause: error,
      },
    );
  }
}

async function show(context: Context, server: AuthorizationServer, url: URL, open: boolean): Promise<void> {
  assertSameOrigin(url.href, "authorization_endpoint", server.issuer);
  const address = context.output.noteStyles.accent(url.href);
  announce(context, {
    record: { authorization_url: url.href },
    lines: [
      open ? "Opening your browser to sign in. If it does not open, use this URL:" : "Open this URL to sign in:",
      `  ${address}`,
    ],
  });
  if (!open || (await context.openBrowser(url.href))) return;
  context.output.warn("Could not open a browser. Open the URL above, or sign in with a code: service login --device");
}

/** The browser waits for its page until everything is done, and shows the same outcome as the terminal. */
async function finish(
  server: AuthorizationServer,
  { authorization, callback, keep }: { authorization: Authorization; callback: Callback; keep: BrowserSignIn["keep"] },
): Promise<void> {
  try {
    const page = await keep(await finishAuthorization(server, authorization, callback.url));
    await callback.respond(200, successPage(page));
  } catch (error) {
    const denied = callback.url.searchParams.get("error") === "access_denied";
    const [title, reason] = denied
      ? ["Access denied", "You did not sign in. You can close this page."]
      : ["Sign-in failed", `${(error as Error).message}. See the terminal for details.`];
    await callback.respond(denied ? 200 : 400, failurePage(title, reason));
    throw error;
  }
}

import { assertSameOrigin, type AuthorizationServer } from "../../../client/oauth/authorization-server.ts";
import {
  type Authorization,
  type AuthorizationParameters,
  beginAuthorization,
  beginDeviceAuthorization,
  type DeviceAuthorization,
  finishAuthorization,
  pollDeviceAuthorization,
  type TokenSet,
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
import { isLoopback } from "../../../network/connect-options.ts";
import type { Context } from "../../context.ts";
import { orAborted, UserError } from "../../errors.ts";
import { formatSpan } from "../../terminal/time.ts";

const DEFAULT_LIMIT_SECONDS = 300;

interface BrowserSignIn {
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
    assertSameOrigin(authorization.url.href, "authorization_endpoint", server.issuer);
    await showUrl(context, authorization.url, open, seconds);
    const hint = "To wait longer, pass --timeout 15m; to sign in on another device, pass --device.";
    const { spinner } = context.output;
    const waiting = spinner.during("Waiting for the browser", () => withinTime(context, seconds, arrival, hint));
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
    throw new UserError(`Cannot listen on port ${port}: the port is ${code === "EACCES" ? "privileged" : "in use"}`, {
      hint: "Pass another --callback-port, or omit it to use a free port.",
      code: "port_taken",
      cause: error,
    });
  }
}

async function showUrl(context: Context, url: URL, open: boolean, seconds: number): Promise<void> {
  const { output } = context;
  output.instruct(
    [
      open
        ? "Opening your browser to sign in. If it does not open, use this URL:"
        : `Open this URL within ${formatSpan(seconds)} to sign in:`,
      `  ${output.noteStyles.accent(url.href)}`,
    ],
    { authorization_url: url.href },
  );
  if (!open || (await context.openBrowser(url.href))) return;
  output.warn("Could not open a browser. Open the URL above, or sign in with a code: service login --device");
}

/** The browser waits for its page until the sign-in is complete, and shows the same result as the terminal. */
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

/** Waits for the user, with a timeout. Rejects with UserError `timed_out`, or at once with the reason of Ctrl-C. */
async function withinTime<Result>(
  context: Context,
  seconds: number,
  wait: Promise<Result>,
  hint: string,
): Promise<Result> {
  const limit = AbortSignal.timeout(seconds * 1000);
  try {
    return await orAborted(wait, AbortSignal.any([context.signal, limit]));
  } catch (error) {
    if (error !== limit.reason) throw error;
    throw new UserError(`Sign-in timed out after ${formatSpan(seconds)}`, {
      hint: `Run the command again. ${hint}`,
      code: "timed_out",
    });
  }
}

/** A poll that is in flight when the code expires ends by its own timeout. */
const GRACE_SECONDS = 60;

/** Signs in by a code that the user enters in a browser on any device (RFC 8628). */
export async function signInByDevice(
  context: Context,
  server: AuthorizationServer,
  given: { parameters: AuthorizationParameters; why: string | undefined; timeout: number | undefined },
): Promise<TokenSet> {
  const { parameters, why, timeout } = given;
  const device = await beginDeviceAuthorization(server, parameters);
  showCode(context, device, why);
  const seconds = Math.min(timeout ?? Infinity, device.expiresIn + GRACE_SECONDS);
  const polling = new AbortController();
  const codeLasts = `A code lasts ${formatSpan(device.expiresIn)}.`;
  const tokens = withinTime(context, seconds, pollDeviceAuthorization(server, device, polling.signal), codeLasts);
  try {
    return await context.output.spinner.during("Waiting for authorization", () => tokens);
  } finally {
    polling.abort();
  }
}

function showCode({ output }: Context, device: DeviceAuthorization, why: string | undefined): void {
  const { noteStyles: styles } = output;
  const { userCode, verificationUri, verificationUriComplete, expiresIn } = device;
  const { hostname, port } = new URL(verificationUri);
  const what = verificationUriComplete === undefined ? "and enter this code:" : "and check that it shows this code:";
  const lines = [
    `Open this page in any browser, ${what}`,
    `  ${styles.accent(verificationUriComplete ?? verificationUri)}`,
    `  ${styles.strong(userCode)}`,
    styles.dim(`The code expires in ${formatSpan(expiresIn)}.`),
  ];
  if (why !== undefined) {
    lines.unshift(styles.dim(`No browser can be opened ${why}; to try it anyway, pass --browser.`));
  }
  if (isLoopback(hostname)) {
    lines.push(
      styles.dim("From another machine, forward the port first:"),
      styles.dim(`  ssh -L ${port}:${hostname}:${port} USER@THIS_MACHINE`),
    );
  }
  output.instruct(lines, {
    verification_uri: verificationUri,
    ...(verificationUriComplete === undefined ? {} : { verification_uri_complete: verificationUriComplete }),
    user_code: userCode,
    expires_in: expiresIn,
  });
}

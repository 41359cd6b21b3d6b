import type { AuthorizationServer } from "../../../client/oauth/authorization-server.ts";
import type { TokenSet, AuthorizationParameters } from "../../../client/oauth/authorization.ts";
import {
  beginDeviceAuthorization,
  type DeviceAuthorization,
  pollDeviceAuthorization,
} from "../../../client/oauth/device.ts";
import { isLoopback } from "../../../network/connect-options.ts";
import type { Context } from "../../context.ts";
import { formatSpan } from "../../terminal/time.ts";
import { announce, withinTime } from "./prompt.ts";

/** A poll that is in flight when the code expires ends by its own timeout. */
const GRACE_SECONDS = 60;

/** Signs in by a code that the user enters in a browser on any device (RFC 8628). */
export async function signInByDevice(
  context: Context,
  server: AuthorizationServer,
  {
    parameters,
    why,
    timeout,
  }: { parameters: AuthorizationParameters; why: string | undefined; timeout: number | undefined },
): Promise<TokenSet> {
  const device = await beginDeviceAuthorization(server, parameters);
  show(context, device, why);
  const seconds = Math.min(timeout ?? Infinity, device.expiresIn + GRACE_SECONDS);
  const polling = new AbortController();
  const tokens = withinTime(context, seconds, pollDeviceAuthorization(server, device, polling.signal));
  try {
    return await context.output.spinner.during("Waiting for authorization", tokens);
  } finally {
    polling.abort();
  }
}

function show(context: Context, device: DeviceAuthorization, why: string | undefined): void {
  const { noteStyles: styles } = context.output;
  const { userCode, verificationUri, verificationUriComplete, expiresIn } = device;
  announce(context, {
    record: {
      verification_uri: verificationUri,
      ...(verificationUriComplete === undefined ? {} : { verification_uri_complete: verificationUriComplete }),
      user_code: userCode,
      expires_in: expiresIn,
    },
    lines: [
      ...(why === undefined
        ? []
        : [styles.dim(`Signing in with a code, ${why}. To use a browser on this machine, pass --browser.`)]),
      `In a browser ${isLoopback(new URL(verificationUri).hostname) ? "on this machine" : "on any device"}, open`,
      `  ${styles.accent(verificationUriComplete ?? verificationUri)}`,
      verificationUriComplete === undefined ? "and enter the code" : "and check that it shows the code",
      `  ${styles.strong(userCode)}`,
      styles.dim(`The code expires in ${formatSpan(expiresIn)}.`),
    ],
  });
}

/** Why an application on the developer's machine sent no complete response. */
export type ConnectionProblem = "timeout" | "reset" | "dns" | "tls" | "unreachable" | "invalid_response";

const IF_HTTPS = " If it serves https, use https://.";

/** Returns what to do about a failure at a URL, in sentences: `service listen` and `service why` give the same advice. */
export function adviceOn(problem: ConnectionProblem, protocol: string): string {
  const ifHttps = protocol === "http:" ? IF_HTTPS : "";
  switch (problem) {
    case "timeout":
      return "Return 2xx first and do slow work afterwards.";
    case "reset":
      return `Check whether the receiver crashed.${ifHttps}`;
    case "dns":
      return "Check the spelling of the host name.";
    case "tls":
      return "If the receiver serves plain http, use http://. If its certificate is for development only, set NODE_EXTRA_CA_CERTS to the file of its authority, or add --skip-verify.";
    case "unreachable":
      return "Check the address, and that this machine can reach its network.";
    case "invalid_response":
      return `Check what listens on that port.${ifHttps}`;
  }
}

/** What the receiver of a rejected delivery has to change. A sentence without its period. */
export const NO_LOGIN = "Let this path verify the signature instead of requiring a login";
export const NO_CSRF = "Exempt the path from CSRF protection";

export function mentionsCsrf(body: string): boolean {
  return /csrf/i.test(body);
}

export function isSignIn(location: string | undefined): boolean {
  return /\b(log|sign)[_-]?in\b|\bauth\b/i.test(location ?? "");
}

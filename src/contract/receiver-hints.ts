/** Why an application on the developer's machine sent no complete response. */
export type ConnectionProblem = "timeout" | "connection_closed" | "dns" | "tls" | "unreachable" | "invalid_response";

const IF_HTTPS = " If it serves https, use https://.";

/** Returns what to do about a failure at a URL, in sentences: `service listen` and `service why` give the same advice. */
export function adviceOn(problem: ConnectionProblem, protocol: string): string {
  const ifHttps = protocol === "http:" ? IF_HTTPS : "";
  switch (problem) {
    case "timeout":
      return "Return 2xx first and do slow work afterwards.";
    case "connection_closed":
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

/** A response that is not 2xx. */
interface ErrorResponse {
  status: number;
  /** The beginning of its body. */
  body: string;
  header: (name: string) => string | undefined;
}

const STALE = /timestamp.*(toleran|too old|expired|outside|future)|toleran/is;
const SIGNATURE = /signature|hmac|whsec|webhook.?secret/i;
const LOGIN = /\b(log|sign)[ -]?in\b|\bunauthenticated\b|\bauthentication required\b/i;
const SIGN_IN = /\b(log|sign)[_-]?in\b|\bauth\b/i;
const PAGE = /^\s*<(!doctype html|html)/i;
/** What nginx, Cloudflare and others respond when the application behind them did not, besides 502 and 504. */
const PROXY_PAGE = /<title>[^<]*(bad gateway|service (temporarily )?unavailable|gateway time-?out)/i;
const PROXY_TEXT = /^(upstream connect error|no healthy upstream)/i;

export function isPage(body: string): boolean {
  return PAGE.test(body);
}

export type Rejection = ReturnType<typeof rejectionOf>;

/** Returns what an error response suggests: `service listen`, `webhooks send` and `service why` judge it alike. */
export function rejectionOf({ status, body, header }: ErrorResponse) {
  const mayVerify = [400, 401, 403, 422].includes(status);
  if (mayVerify && STALE.test(body)) return "stale";
  if (mayVerify && SIGNATURE.test(body)) return "signature";
  if (status === 401 || status === 403) {
    if (/csrf/i.test(body)) return "csrf";
    if (header("www-authenticate") !== undefined || LOGIN.test(body)) return "login";
    return isPage(body) || header("cf-ray") !== undefined ? "firewall" : "unauthorized";
  }
  if (status === 404 || status === 405) return "not_found";
  if (status === 410) return "gone";
  if (status === 429 || (status === 503 && header("retry-after") !== undefined)) return "busy";
  if (status >= 300 && status < 400) {
    const location = header("location");
    return location === undefined ? "redirect_nowhere" : SIGN_IN.test(location) ? "sign_in" : "redirect";
  }
  const isProxy = PROXY_TEXT.test(body) || (isPage(body) && PROXY_PAGE.test(body));
  if (status === 502 || status === 504 || (status === 503 && isProxy)) return "proxy";
  if (status >= 500) return "error";
  return status === 413 ? "too_large" : status === 415 ? "media_type" : status === 400 ? "invalid" : "rejected";
}

const VERIFY = "check that it uses the same secret and the raw body";
const NO_LOGIN = "Let this path verify the signature instead of requiring a login";

/** Returns what to change in a receiver, or at its URL, after an error response: a sentence without its period. */
export function adviceOnRejection(rejection: Rejection, receiver: string, url: string): string {
  switch (rejection) {
    case "stale":
      return `Correct the clock of ${receiver}`;
    case "signature":
      return `Check that ${receiver} uses the same secret and the raw body`;
    case "csrf":
      return "Exempt the path from CSRF protection";
    case "login":
    case "sign_in":
      return NO_LOGIN;
    case "firewall":
      return "Allow the request in the firewall or proxy";
    case "unauthorized":
      return `If ${receiver} verifies signatures, ${VERIFY}; if it requires a login, let this path verify the signature instead`;
    case "invalid":
      return `If ${receiver} verifies signatures, ${VERIFY}; otherwise change it so that it accepts the event`;
    case "not_found":
    case "gone":
      return `Handle POST at this path, or correct ${url}`;
    case "busy":
      return `Wait until ${receiver} accepts requests again`;
    case "redirect":
      return "Use the redirect's target; redirects are not followed";
    case "redirect_nowhere":
      return `Respond with 2xx in ${receiver} itself`;
    case "proxy":
      return "Start the application, or correct its address in the proxy";
    case "error":
      return `Fix the error in ${receiver}`;
    case "too_large":
      return `Raise the limit for bodies in ${receiver}`;
    case "media_type":
      return `Accept Content-Type: application/json in ${receiver}`;
    case "rejected":
      return `Change ${receiver} so that it accepts the event`;
  }
}

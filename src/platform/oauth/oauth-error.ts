/** An error response of OAuth (RFC 6749 5.2, RFC 8628 3.5, RFC 7009 2.2.1). */
export class OAuthError extends Error {
  override name = "OAuthError";
  /** The registered error code. */
  readonly code: string;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(code: string, description: string, status = 400, headers: Record<string, string> = {}) {
    // A description may only contain these characters (RFC 6749 5.2).
    super(description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?").slice(0, 300));
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

/** The client failed to authenticate: 401 with the supported method. */
export function invalidClient(description: string): OAuthError {
  return new OAuthError("invalid_client", description, 401, { "WWW-Authenticate": 'Basic realm="service"' });
}

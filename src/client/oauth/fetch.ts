import type { CustomFetch } from "openid-client";
import { AuthorizationError } from "../errors.ts";
import type { AuthorizationServerOptions } from "./authorization-server.ts";

/** Metadata, tokens and errors are far smaller. */
const MAX_BYTES = 1024 * 1024;
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * The protocol library's requests over the same transport as all others: proxies, certificate authorities and time limits
 * hold for them too, and redirects are never followed. A server that is out of order becomes an AuthorizationError that
 * a later attempt may get past.
 */
export function fetchThrough(options: AuthorizationServerOptions, timeLimit: number): CustomFetch {
  const { transport, userAgent, signal, onAttempt } = options;
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    const started = performance.now();
    const tell = (outcome: string): void =>
      onAttempt?.({ method, url: url.origin + url.pathname, outcome, milliseconds: performance.now() - started });
    try {
      const reply = await transport.send({
        method,
        url,
        headers: { ...headers, "User-Agent": userAgent },
        body: body instanceof URLSearchParams ? body.toString() : undefined,
        timeLimit,
        maxBytes: MAX_BYTES,
        signal,
      });
      tell(String(reply.status));
      if (reply.status >= 500) throw outOfOrder(url, reply.status);
      const entries = Object.entries(reply.headers).map(([name, value]): [string, string] => [name, String(value)]);
      return new Response(BODILESS.has(reply.status) ? null : reply.text, { status: reply.status, headers: entries });
    } catch (error) {
      tell((error as Error).message);
      throw error;
    }
  };
}

function outOfOrder(url: URL, status: number): AuthorizationError {
  return new AuthorizationError("temporarily_unavailable", `The authorization server ${url.host} answered ${status}`, {
    hint: "The fault is the server's. Try again in a moment.",
    passing: true,
  });
}

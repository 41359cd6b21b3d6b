import { createHash, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

/** The redirect from the authorization server. */
export interface Callback {
  url: URL;
  /** Shows the result in the browser; resolves once the page was read, or the connection is closed. */
  respond(status: number, page: string): Promise<void>;
}

/** A server on the loopback interface that accepts exactly one callback (RFC 8252 7.3). */
export type Loopback = Awaited<ReturnType<typeof openLoopback>>;

interface LoopbackOptions {
  path: string;
  /** 0 for a free port. */
  port: number;
  /** Called for each request that was rejected because of its contents: it may be an attack. */
  onRejection: (reason: string) => void;
}

const HEADER_BYTES = 8 * 1024;
const REQUEST_MILLISECONDS = 4000;
const CHECK_MILLISECONDS = 500;
const PARAMETERS = ["code", "error", "state", "iss"];

/** Listens on 127.0.0.1, or on [::1] without IPv4. Rejects with the system's error, such as EADDRINUSE. */
export async function openLoopback({ path, port, onRejection }: LoopbackOptions) {
  let expected: string | undefined;
  let take: ((callback: Callback) => void) | undefined;
  let taken = false;
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: REQUEST_MILLISECONDS,
    requestTimeout: REQUEST_MILLISECONDS,
    connectionsCheckingInterval: CHECK_MILLISECONDS,
  });
  const origin = await listen(server, port);

  server.on("request", (request, response) => {
    const url = new URL(origin + (request.url?.startsWith("/") === true ? request.url : "/"));
    const rejection = taken ? { status: 410, reason: "This sign-in has ended" } : rejectionOf(request, url);
    if (rejection === undefined && take !== undefined) {
      taken = true;
      return take({ url, respond: (status, page) => respond(response, status, page) });
    }
    const { status, reason } = rejection ?? { status: 400, reason: "No sign-in is in progress" };
    if (status === 400) onRejection(reason);
    response.writeHead(status, {
      "Content-Type": "text/plain; charset=utf-8",
      Connection: "close",
      ...(status === 405 ? { Allow: "GET" } : {}),
    });
    response.end(`${reason}.\n`);
  });

  function rejectionOf(request: IncomingMessage, url: URL): { status: number; reason: string } | undefined {
    // Another site may point its own name to this machine (DNS rebinding).
    if (request.headers.host !== new URL(origin).host) return { status: 421, reason: "Unknown host" };
    if (url.pathname !== path) return { status: 404, reason: "Not found" };
    if (request.method !== "GET") return { status: 405, reason: "Use GET" };
    const mode = request.headers["sec-fetch-mode"];
    if (mode !== undefined && mode !== "navigate") return { status: 403, reason: "Open this URL in a browser tab" };
    const parameters = url.searchParams;
    if (PARAMETERS.some((name) => parameters.getAll(name).length > 1)) {
      return { status: 400, reason: "A parameter is repeated" };
    }
    if (!sameSecret(parameters.get("state") ?? "", expected ?? "")) {
      return { status: 400, reason: "The state does not match this sign-in" };
    }
    if (parameters.has("code") === parameters.has("error"))
      return { status: 400, reason: "Expected either code or error" };
    return undefined;
  }

  return {
    redirectUri: origin + path,
    /** Resolves with the callback that has this state. Call it once. */
    callback(state: string): Promise<Callback> {
      expected = state;
      return new Promise((resolve) => {
        take = resolve;
      });
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, port: number): Promise<string> {
  try {
    await bind(server, port, "127.0.0.1");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRNOTAVAIL" && code !== "EAFNOSUPPORT") throw error;
    await bind(server, port, "::1");
  }
  const { address, port: bound } = server.address() as AddressInfo;
  // As browsers write it: without port 80.
  return new URL(`http://${address.includes(":") ? `[${address}]` : address}:${bound}`).origin;
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  server.listen({ port, host, exclusive: true });
  await once(server, "listening");
}

async function respond(response: ServerResponse, status: number, page: string): Promise<void> {
  if (response.closed) return;
  const closed = once(response, "close");
  response.writeHead(status, { ...CALLBACK_PAGE_HEADERS, Connection: "close" });
  response.end(page);
  await closed;
}

/** Compares in constant time, also if the lengths differ. */
function sameSecret(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

const STYLESHEET = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --text: #14161a; --soft: #59606b; --line: #dfe2e7;
  --code: #f4f5f7; --accent: #2f4fd8; --good: #0d6b3c; --good-soft: #e3f5ea; --bad: #a3172a; --bad-soft: #fde7ea; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0e1013; --card: #171a1f; --text: #eceef2; --soft: #9aa2ae; --line: #2b3038;
    --code: #0f1216; --accent: #8ea4ff; --good: #6fd6a0; --good-soft: #11291d; --bad: #ff8d9b; --bad-soft: #33151a; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; overflow-wrap: anywhere; }
main { width: min(100% - 32px, 440px); margin: 32px auto; padding: 40px 32px 32px; text-align: center;
  background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
.sign { width: 56px; height: 56px; margin: 0 auto 20px; padding: 14px; border-radius: 50%; display: block;
  fill: none; stroke: currentColor; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; }
.good { color: var(--good); background: var(--good-soft); }
.bad { color: var(--bad); background: var(--bad-soft); }
h1 { margin: 0 0 8px; font-size: 23px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }
p { margin: 0; color: var(--soft); text-wrap: balance; }
dl { margin: 24px 0; font-size: 14px; text-align: left; border: 1px solid var(--line); border-radius: 10px; }
dl div { display: flex; justify-content: space-between; gap: 16px; padding: 10px 14px; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--soft); flex: none; }
dd { margin: 0; text-align: right; font-weight: 500; }
section { margin-top: 28px; padding-top: 20px; border-top: 1px solid var(--line); text-align: left; }
section p { font-size: 14px; margin-bottom: 8px; }
code { display: block; margin-top: 6px; padding: 9px 12px; border-radius: 8px; background: var(--code);
  font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code::before { content: "$ "; color: var(--accent); }
@media (max-width: 480px) {
  body { display: block; background: var(--card); }
  main { width: 100%; margin: 0; border: 0; border-radius: 0; padding: 48px 20px 24px; }
}
`;

const STYLE_HASH = createHash("sha256").update(STYLESHEET).digest("base64");

/** The page runs no scripts, loads nothing, cannot be framed, is not cached, and sends no referrer. */
const CALLBACK_PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

const CHECK_MARK = `<svg class="sign good" viewBox="0 0 28 28" aria-hidden="true"><path d="M5 15l6 6L23 8"/></svg>`;
const CROSS = `<svg class="sign bad" viewBox="0 0 28 28" aria-hidden="true"><path d="M7 7l14 14M21 7L7 21"/></svg>`;

export interface SuccessPage {
  /** Details such as account and environment. */
  facts: readonly (readonly [name: string, value: string])[];
  /** Commands to try next. */
  commands: readonly string[];
}

/** Returns the page that is shown once the tokens are stored. */
export function successPage({ facts, commands }: SuccessPage): string {
  const rows = facts.map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`);
  const next = commands.map((command) => `<code>${escape(command)}</code>`);
  return page(
    "You are signed in",
    `${CHECK_MARK}
<h1>You are signed in</h1>
<p>Close this page and go back to your terminal.</p>
<dl>${rows.join("")}</dl>
<section><p>To begin with:</p>${next.join("")}</section>`,
  );
}

/** Returns the page that is shown if the sign-in failed. */
export function failurePage(title: string, reason: string): string {
  return page(
    title,
    `${CROSS}
<h1>${escape(title)}</h1>
<p>${escape(reason)}</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Service</title>
<link rel="icon" href="data:,">
<style>${STYLESHEET}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

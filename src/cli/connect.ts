import { parseBaseUrl } from "../client/base-url.ts";
import { type Client, createClient } from "../client/http.ts";
import type { Context } from "./context.ts";
import { UserError } from "./errors.ts";

/** A client whose waits show a spinner and whose attempts show with --debug. */
export function connect(context: Context, baseUrl: string, credential: string | undefined): Client {
  if (credential !== undefined && !/^[\x21-\x7e]+$/.test(credential)) {
    throw new UserError("The API key holds spaces or characters that no key has", {
      hint: "Copy it again, whole and without quotes.",
      code: "malformed_key",
    });
  }
  const { output, env } = context;
  const client = createClient({
    baseUrl: parseBaseUrl(baseUrl, { insecure: context.globals.insecure }),
    credential,
    userAgent: `service-cli/${context.version} (${context.platform}) node/${process.versions.node}`,
    signal: context.signal,
    proxies: {
      http_proxy: env["http_proxy"] ?? env["HTTP_PROXY"],
      https_proxy: env["https_proxy"] ?? env["HTTPS_PROXY"],
      no_proxy: env["no_proxy"] ?? env["NO_PROXY"],
    },
    random: () => context.random(),
    uuid: () => context.uuid(),
    onRetry: ({ reason, milliseconds }) =>
      output.spinner.say(`${reason}; trying again in ${(milliseconds / 1000).toFixed(1)} s`),
    ...(context.debug
      ? {
          onAttempt: ({ method, url, outcome, milliseconds }) =>
            output.trace(`${method} ${url} → ${outcome} (${Math.round(milliseconds)} ms)`),
        }
      : {}),
  });
  return {
    baseUrl: client.baseUrl,
    request: (request) => output.spinner.during(`Waiting for ${client.baseUrl.host}`, client.request(request)),
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as client from "openid-client";

/** A small third-party web application: it signs users in at the platform and makes API calls for them. */
export interface ThirdPartyApp {
  url: string;
  close(): Promise<void>;
}

interface Visit {
  verifier: string;
  state: string;
  tokens?: client.TokenEndpointResponse;
}

/** Starts it. `register` receives its redirect URI and returns its client ID and secret. */
export async function startThirdPartyApp(
  platformUrl: string,
  scope: string,
  register: (redirectUri: string) => Promise<{ id: string; secret: string }>,
): Promise<ThirdPartyApp> {
  const visits = new Map<string, Visit>();
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirect_uri = `${url}/signed-in`;
  const { id, secret } = await register(redirect_uri);
  const config = await client.discovery(new URL(platformUrl), id, undefined, client.ClientSecretBasic(secret), {
    algorithm: "oauth2",
    execute: [client.allowInsecureRequests],
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, url);
    const visit = visits.get(/visit=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "");
    switch (pathname) {
      case "/sign-in": {
        const fresh = { verifier: client.randomPKCECodeVerifier(), state: client.randomState() };
        const name = client.randomNonce();
        visits.set(name, fresh);
        const code_challenge = await client.calculatePKCECodeChallenge(fresh.verifier);
        const parameters = { redirect_uri, scope, state: fresh.state, code_challenge, code_challenge_method: "S256" };
        const Location = client.buildAuthorizationUrl(config, parameters).href;
        response.writeHead(303, { Location, "Set-Cookie": `visit=${name}; HttpOnly` }).end();
        return;
      }
      case "/signed-in":
        visit!.tokens = await client.authorizationCodeGrant(config, new URL(request.url!, url), {
          pkceCodeVerifier: visit!.verifier,
          expectedState: visit!.state,
        });
        response.writeHead(303, { Location: "/" }).end();
        return;
      default: {
        // Passes on the platform's response to a request with the user's own token.
        const path = searchParams.get("path") ?? "/v1/me";
        const method = searchParams.get("method") ?? "GET";
        const reply = await fetch(platformUrl + path, {
          method,
          headers: { Authorization: `Bearer ${visit?.tokens?.access_token}`, "Content-Type": "application/json" },
          ...(method === "POST" ? { body: searchParams.get("body")! } : {}),
        });
        response.writeHead(reply.status, { "Content-Type": "application/json" }).end(await reply.text());
      }
    }
  }

  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

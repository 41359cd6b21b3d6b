// Serves oidc-provider with a separate Node.js. Arguments: the folder that it is installed in, then the apps as JSON.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder, apps] = process.argv as [string, string, string, string];
const { publicApp, confidentialApp, scopes } = JSON.parse(apps) as {
  publicApp: { id: string; redirectUri: string };
  confidentialApp: { id: string; secret: string; redirectUri: string };
  scopes: string[];
};
const library = pathToFileURL(join(folder, "node_modules/oidc-provider/lib/index.js")).href;
const { Provider } = (await import(library)) as {
  Provider: new (issuer: string, settings: object) => { callback(): Parameters<typeof createServer>[1] };
};

const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const grantTypes = ["authorization_code", "refresh_token", DEVICE_CODE_GRANT];

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: publicApp.id,
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: [publicApp.redirectUri, publicApp.redirectUri.replace("127.0.0.1", "[::1]")],
        grant_types: grantTypes,
        response_types: ["code"],
      },
      {
        client_id: confidentialApp.id,
        client_secret: confidentialApp.secret,
        redirect_uris: [confidentialApp.redirectUri],
        grant_types: grantTypes,
        response_types: ["code"],
      },
    ],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    scopes,
    pkce: { required: () => true },
    rotateRefreshToken: () => true,
    issueRefreshToken: async () => true,
    expiresWithSession: async () => false,
    ttl: { AccessToken: 3600, AuthorizationCode: 60, DeviceCode: 600, RefreshToken: 30 * 86_400 },
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true, allowedPolicy: async () => true },
    },
  });
  server.on("request", provider.callback()!);
  process.stdout.write(`${issuer}\n`);
});

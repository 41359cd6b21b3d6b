import { DEVICE_CODE_GRANT, OAUTH_PATHS } from "../../contract/scopes.ts";
import { allScopeNames } from "./scope-names.ts";

const CLIENT_AUTHENTICATION = ["none", "client_secret_basic", "client_secret_post"];

/** Authorization server metadata (RFC 8414). */
export function metadataOf(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: issuer + OAUTH_PATHS.authorize,
    token_endpoint: issuer + OAUTH_PATHS.token,
    revocation_endpoint: issuer + OAUTH_PATHS.revoke,
    device_authorization_endpoint: issuer + OAUTH_PATHS.deviceAuthorization,
    scopes_supported: allScopeNames(),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", DEVICE_CODE_GRANT],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    authorization_response_iss_parameter_supported: true,
  };
}

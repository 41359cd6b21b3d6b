import { Identity, VersionList } from "../../../contract/schemas/account.ts";
import type { Versions } from "../../domain/versions.ts";
import { type Operation, readOperation } from "../operation.ts";

/** Returns the owner of the credential, and the versions that the platform supports. */
export function identityOperations(versions: Versions): Operation[] {
  return [
    readOperation({
      name: "getIdentity",
      summary: "Retrieve the owner of the credential",
      method: "GET",
      path: "/v1/me",
      scope: null,
      response: { status: 200, schema: Identity },
      read: async ({ caller: { tenant, user, credential, scopes } }): Promise<Identity> => ({
        object: "identity",
        account: { id: tenant.account.id, name: tenant.account.name },
        user,
        environment: tenant.name,
        livemode: tenant.livemode,
        credential,
        scopes: [...scopes],
      }),
    }),
    readOperation({
      name: "listVersions",
      summary: "List the supported versions",
      method: "GET",
      path: "/v1/versions",
      scope: null,
      response: {
        status: 200,
        schema: VersionList,
      },
      read: async ({ caller }) => ({
        object: "list",
        data: versions.dates,
        latest: versions.latest,
        pinned: caller.tenant.account.version,
      }),
    }),
  ];
}

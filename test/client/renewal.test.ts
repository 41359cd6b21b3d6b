import { describe, expect, it } from "vitest";
import type { CredentialSource } from "../../src/client/http.ts";
import { clientOf } from "./support/client.ts";
import { json, startServer } from "./support/scripted-server.ts";

const GET = { method: "GET", path: "/v1/things" } as const;
const REJECTED = json(401, { status: 401, code: "unauthenticated", detail: "No", title: "No", request_id: "req_1" });

/** Tokens `at_1`, `at_2` …, with a list of the rejected ones. */
function tokens(): CredentialSource & { rejected: string[] } {
  const rejected: string[] = [];
  return {
    rejected,
    current: async () => "at_1",
    async renewed(token) {
      rejected.push(token);
      return `at_${rejected.length + 1}`;
    },
  };
}

describe("a renewable credential", () => {
  it("is renewed after a 401, and the request is repeated with the new credential", async () => {
    const { url, requests: seen } = await startServer(REJECTED, json(200, { object: "identity" }));
    const credential = tokens();
    await expect(clientOf(url, { credential }).request(GET)).resolves.toMatchObject({ status: 200 });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer at_1", "Bearer at_2"]);
    expect(credential.rejected).toEqual(["at_1"]);
  });

  it("is renewed once per request, even if the platform rejects the new one too", async () => {
    const { url, requests: seen } = await startServer(REJECTED, REJECTED, json(200, {}));
    const credential = tokens();
    await expect(clientOf(url, { credential }).request(GET)).rejects.toMatchObject({ status: 401 });
    expect(seen).toHaveLength(2);
    expect(credential.rejected).toEqual(["at_1"]);
  });
});

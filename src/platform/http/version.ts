import { VERSIONS } from "../../contract/versions.ts";
import { ApiError } from "../domain/api-error.ts";

/** The version of a request: its header's, or the account's pinned one. Throws ApiError `unsupported_version`. */
export function versionOf(header: string | undefined, pinned: string): string {
  if (header === undefined) return pinned;
  if ((VERSIONS as readonly string[]).includes(header)) return header;
  throw new ApiError(
    "unsupported_version",
    `Service-Version ${JSON.stringify(header.slice(0, 40))} is not supported. Supported: ${VERSIONS.join(", ")}.`,
    { members: { supported: [...VERSIONS] } },
  );
}

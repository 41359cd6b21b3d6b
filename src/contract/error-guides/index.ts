import type { ErrorCode } from "../errors.ts";
import { CREDENTIAL_GUIDES } from "./credentials.ts";
import type { ErrorGuide } from "./guide.ts";
import { REQUEST_GUIDES } from "./requests.ts";
import { RESOURCE_GUIDES } from "./resources.ts";

export type { ErrorGuide } from "./guide.ts";

/** A guide for every code of the table in `errors.ts`. */
export const ERROR_GUIDES: Record<ErrorCode, ErrorGuide> = {
  ...REQUEST_GUIDES,
  ...CREDENTIAL_GUIDES,
  ...RESOURCE_GUIDES,
};

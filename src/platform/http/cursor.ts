import { timingSafeEqual } from "node:crypto";
import { ApiError } from "../domain/api-error.ts";
import type { Vault } from "../vault.ts";

/** What a cursor is bound to: it works for the same list, environment and filters only. */
export interface CursorScope {
  list: string;
  environment: number;
  filters: Record<string, unknown>;
}

const TAG_BYTES = 16;

/** The position of the last row seen, signed. */
export function encodeCursor(vault: Vault, scope: CursorScope, position: string): string {
  return Buffer.concat([vault.tag(signedText(scope, position)), Buffer.from(position)]).toString("base64url");
}

/** Returns the position that a cursor holds. Throws ApiError `invalid_cursor` where it was edited or made for another list. */
export function decodeCursor(vault: Vault, scope: CursorScope, cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(TAG_BYTES).toString("utf8");
  const tag = bytes.subarray(0, TAG_BYTES);
  // Characters that the decoder passes over are edits, too.
  const whole = tag.length === TAG_BYTES && bytes.toString("base64url") === cursor;
  if (!whole || !timingSafeEqual(tag, vault.tag(signedText(scope, position)))) {
    throw new ApiError(
      "invalid_cursor",
      "The cursor was not made for this list with these filters: start again without it.",
    );
  }
  return position;
}

function signedText({ list, environment, filters }: CursorScope, position: string): string {
  const canonical = Object.entries(filters).filter(([, value]) => value !== undefined);
  canonical.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(["cursor", list, environment, canonical, position]);
}

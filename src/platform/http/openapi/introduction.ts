import { LIMITS } from "../../../contract/limits.ts";
import { LISTEN_PATH, LISTEN_SUBPROTOCOL } from "../../../contract/listen.ts";
import { PROBLEMS_PATH } from "../problem.ts";

/** What holds for every operation, in Markdown. */
export const INTRODUCTION = `Send an API key or an OAuth access token as \`Authorization: Bearer …\`. A credential belongs to one account and one
environment, live or sandbox, and sees nothing beyond it.

**Bodies** are JSON of at most ${LIMITS.bodyBytes / 1024 ** 2} MiB. Unknown fields are refused, never ignored. Times are UTC, \`YYYY-MM-DDTHH:MM:SSZ\`.

**Lists** are newest first. \`next_cursor\` leads to the next page, with the same filters.

**Errors** are problem documents (RFC 9457) with a stable \`code\`; [each has a page](${PROBLEMS_PATH}).

**Idempotency**: every POST takes an \`Idempotency-Key\`. For ${LIMITS.idempotencySeconds / 3600} hours the same request gets the first reply again.

**Versions**: \`Service-Version\` names a date; without it the account's pinned version holds.

**Events** are delivered to webhook endpoints, signed, at least once. In the sandbox they can be listened to as well, over a
WebSocket at \`${LISTEN_PATH}\` (subprotocol \`${LISTEN_SUBPROTOCOL}\`).`;

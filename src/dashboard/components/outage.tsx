import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Identity } from "../../contract/schemas/account.ts";
import { inProject } from "../../contract/shell-command.ts";
import { useQuery } from "../api/store.ts";
import { clockOffset } from "../clock.ts";
import { clockTime } from "../format.ts";

/** True while the platform cannot be reached. */
export const isUnreachable = signal(false);

/** How to read again each part of the page that could not be read. */
const unread = signal<ReadonlySet<() => void>>(new Set());

/** In place of an error for want of a connection, which the page shows once, at its top. */
export function Unread({ onRetry }: { onRetry: () => void }) {
  const retry = useRef(onRetry);
  retry.current = onRetry;
  useLayoutEffect(() => {
    const read = () => retry.current();
    unread.value = new Set([...unread.value, read]);
    return () => {
      unread.value = new Set([...unread.value].filter((other) => other !== read));
    };
  }, []);
  return null;
}

/** Says that the platform cannot be reached. Headlines are hidden meanwhile: they may be wrong by now. */
export function Outage() {
  // Read by every page, and again every two seconds while there is no stream.
  const { error, reload } = useQuery<Identity>("/v1/me");
  const isDown = error?.status === 0 || unread.value.size > 0;
  useLayoutEffect(() => {
    isUnreachable.value = isDown;
  }, [isDown]);
  return isDown ? (
    <Notice
      onRetry={() => {
        reload();
        for (const read of unread.value) read();
      }}
    />
  ) : null;
}

function Notice({ onRetry }: { onRetry: () => void }) {
  const [since] = useState(() => new Date().toISOString());
  return (
    <section class="outage answer bad" role="alert">
      <p>The platform cannot be reached.</p>
      <p class="evidence">
        Last update {clockTime(since)}
        {clockOffset.value > 0 && ", in real time"}. The page tries again every two seconds, and continues as soon as
        there is a connection. On your own machine, start the platform again as before, with{" "}
        <code>{inProject("service dev")}</code> or <code>{inProject("service serve")}</code> and the same flags.
      </p>
      <div class="row-actions remedy">
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      </div>
    </section>
  );
}

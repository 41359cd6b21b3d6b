import type { ComponentChildren } from "preact";
import type { CallError } from "../api/call.ts";
import type { Query } from "../api/use-query.ts";

/** Why something did not work, with what helps to ask about it. */
export function ErrorBox({ error, onRetry }: { error: CallError; onRetry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{error.status === 404 ? "Not found." : "That did not work."}</strong> {error.message}
      </p>
      {error.requestId !== undefined && (
        <p class="soft">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && error.status !== 404 && (
        <button type="button" class="small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div class="loading" role="status" aria-live="polite">
      <span class="sr-only">{what}…</span>
      <i aria-hidden="true" />
      <i aria-hidden="true" />
      <i aria-hidden="true" />
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

/** Shows a read's data once it is there; an error of a later try stands above the data it left. */
export function Loaded<Data>({ of, children }: { of: Query<Data>; children: (data: Data) => ComponentChildren }) {
  const { data, error, reload } = of;
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined ? error === undefined && <Loading /> : children(data)}
    </>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { CallError } from "../api/call.ts";
import type { Query } from "../api/store.ts";
import { environment, hasGoneBack, hasMoved, Link } from "../router.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { CopyLine } from "./values.tsx";

interface PageProps {
  title: string;
  /** The page that the heading leads back to. */
  back?: { href: string; label: string };
  subtitle?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of a page. Its heading takes the focus, so that a screen reader announces the page. */
export function Page({ title, back, subtitle, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasMoved() && !hasGoneBack()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · ${environment.value === "live" ? "LIVE" : "Sandbox"} · Service`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          {back !== undefined && (
            <Link href={back.href} class="back">
              <Icon name="back" /> {back.label}
            </Link>
          )}
          <h1 ref={heading} tabIndex={-1} dir="auto">
            {title}
          </h1>
          {subtitle !== undefined && <p class="soft">{subtitle}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A titled part of a page. */
export function Card(props: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{props.title}</h2>
        {props.actions !== undefined && <div class="actions">{props.actions}</div>}
      </div>
      {props.children}
    </section>
  );
}

/** Names and values. Undefined values are omitted. */
export function Facts({ rows }: { rows: readonly (readonly [label: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd dir="auto">{value ?? <span class="soft">–</span>}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Shows why something failed, with the details that support needs. */
export function ErrorBox({ error, onRetry }: { error: CallError; onRetry?: () => void }) {
  if (error.status === 404) {
    return (
      <div class="empty" role="alert">
        <Icon name="search" />
        <p>
          <strong>Not found.</strong>
        </p>
        <p>{error.message}</p>
      </div>
    );
  }
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{error.status === 0 ? "No connection." : "The request failed."}</strong> {error.message}
      </p>
      {error.requestId !== undefined && (
        <p>
          Request <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
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
      {[1, 2, 3, 4, 5].map((row) => (
        <i key={row} aria-hidden="true" />
      ))}
    </div>
  );
}

/** A place without content: why, what to do, and the command that does it in the sandbox. */
export function Empty(props: { title: string; icon?: IconName; children?: ComponentChildren; command?: string }) {
  const { title, icon, children, command } = props;
  return (
    <div class="empty">
      {icon !== undefined && <Icon name={icon} />}
      <p>
        <strong>{title}</strong>
      </p>
      {children}
      {command !== undefined && (
        <CopyLine text={environment.value === "live" ? `${command} --live` : command} what="the command" />
      )}
    </div>
  );
}

/** Shows data once it is loaded. The error of a later attempt appears above the previous data. */
export function Loaded<Data>({ of, children }: { of: Query<Data>; children: (data: Data) => ComponentChildren }) {
  const { data, error, reload } = of;
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined ? error === undefined && <Loading /> : children(data)}
    </>
  );
}

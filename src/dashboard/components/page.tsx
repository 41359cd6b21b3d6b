import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import type { CallError } from "../api/call.ts";
import type { Query } from "../api/store.ts";
import { environment, hasGoneBack, hasMoved, hrefOf, Link, neighborsOf, route } from "../router.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { recordVisit } from "../recent.ts";
import { Unread } from "./outage.tsx";
import { CommandLine, Id } from "./values.tsx";

interface PageProps {
  title: string;
  /** The list of an object's page. The title is then small, because the answer below says what happened. */
  back?: { href: string; label: string };
  /** The ID of the object, to copy. */
  id?: string;
  /** The IDs of what belongs together with it, in order: its neighbors if it was not opened from a list. */
  siblings?: readonly string[] | undefined;
  /** False until the title is that of the object. */
  isLoaded?: boolean;
  subtitle?: ComponentChildren;
  /** Shown instead of the title, which then only a screen reader reads. */
  headline?: ComponentChildren;
  /** How many there are, next to the title. */
  count?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** How to leave a page that is shown next to a list; undefined for a full page. */
export const Peeked = createContext<{ href: string; close: () => void } | undefined>(undefined);

/** The frame of a page. Its heading takes the focus, so that a screen reader announces the page. */
export function Page(props: PageProps) {
  const { title, back, id, siblings, isLoaded = true, subtitle, headline, count, actions, children } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  const peeked = useContext(Peeked);
  useEffect(() => {
    if (peeked === undefined && hasMoved() && !hasGoneBack()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (peeked !== undefined) return;
    document.title = `${title} · ${environment.value === "live" ? "LIVE" : "Sandbox"} · Service`;
    if (id !== undefined && isLoaded) recordVisit(title, location.pathname);
  }, [title, isLoaded]);
  const words = (
    <h1 ref={heading} tabIndex={-1} dir="auto" class={headline === undefined ? undefined : "sr-only"}>
      {title}
      {count !== undefined && <span class="title-count">{count}</span>}
    </h1>
  );
  return (
    <>
      <header class="page-head">
        <div>
          {back === undefined ? (
            words
          ) : (
            <div class="crumbs">
              <Link href={back.href}>{back.label}</Link>
              {peeked === undefined ? words : <h2 dir="auto">{title}</h2>}
              {id !== undefined && <Id id={id} />}
              {id !== undefined && peeked === undefined && <Neighbors id={id} siblings={siblings} />}
            </div>
          )}
          {headline}
          {subtitle !== undefined && <p class="soft">{subtitle}</p>}
        </div>
        <div class="actions">
          {actions}
          {peeked !== undefined && (
            <>
              <Link href={peeked.href} class="button">
                Open
              </Link>
              <button type="button" class="bare" aria-label="Close" onClick={peeked.close}>
                <Icon name="remove" />
              </button>
            </>
          )}
        </div>
      </header>
      {children}
    </>
  );
}

/** Links to the rows before and after this one, in the list from which it was opened. */
function Neighbors({ id, siblings = [] }: { id: string; siblings: readonly string[] | undefined }) {
  const { page } = route.value;
  const rows = neighborsOf(id);
  const isInList = rows.previous !== undefined || rows.next !== undefined;
  const place = siblings.indexOf(id);
  const { previous, next } =
    isInList || place === -1 ? rows : { previous: siblings[place - 1], next: siblings[place + 1] };
  if (previous === undefined && next === undefined) return null;
  const link = (to: string | undefined, key: string, icon: IconName, words: string) =>
    to === undefined ? (
      <span class="bare">
        <Icon name={icon} />
      </span>
    ) : (
      <Link
        href={hrefOf(page, to)}
        class="bare"
        shortcut={key}
        label={`${words} in the list`}
        title={`${words} (${key})`}
        isStep
      >
        <Icon name={icon} />
      </Link>
    );
  return (
    <span class="neighbors">
      {link(previous, "k", "up", "Previous")}
      {link(next, "j", "down", "Next")}
    </span>
  );
}

/** A titled part of a page. */
export function Card(props: {
  title: string;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>
          {props.title}
          {props.note !== undefined && <small>{props.note}</small>}
        </h2>
        {props.actions !== undefined && <div class="actions">{props.actions}</div>}
      </div>
      {props.children}
    </section>
  );
}

/** What happened to an object, and next to it what it is. On a narrow screen that comes first. */
export function WithAside(props: {
  /** Comes first, also on narrow screens, where the details follow below it. */
  lead?: ComponentChildren;
  aside: ComponentChildren;
  children: ComponentChildren;
  /** False until the height of the lead is known. Content below it would move otherwise. */
  isReady?: boolean;
}) {
  return (
    <div class={props.isReady === false ? "with-aside waiting" : "with-aside"}>
      {props.lead !== undefined && <div>{props.lead}</div>}
      <aside aria-label="Details">{props.aside}</aside>
      <div class="rest">{props.children}</div>
    </div>
  );
}

/** Returns true from the time on at which it is first ready. */
export function useWasReady(isReady: boolean): boolean {
  const wasReady = useRef(false);
  wasReady.current ||= isReady;
  return wasReady.current;
}

/** What would move when something above it is loaded: it is not shown before. */
export function Below({ isReady, children }: { isReady: boolean; children: ComponentChildren }) {
  return (
    <div class={useWasReady(isReady) ? "" : "waiting"}>
      <div class="rest">{children}</div>
    </div>
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
  if (error.status === 0 && onRetry !== undefined) return <Unread onRetry={onRetry} />;
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

/** What a screen reader reads while something is loaded. */
export function LoadingStatus() {
  return (
    <span class="sr-only" role="status">
      Loading…
    </span>
  );
}

export function Loading() {
  return (
    <div class="loading">
      <LoadingStatus />
      {[1, 2, 3, 4, 5, 6, 7, 8].map((row) => (
        <div key={row} aria-hidden="true" />
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
      {command !== undefined && <CommandLine text={environment.value === "live" ? `${command} --live` : command} />}
    </div>
  );
}

/** Replaces the content of a page whose object was deleted, or never existed. */
export function Gone({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="answer" role="alert">
      <p>{title}</p>
      <p class="evidence">{children}</p>
    </section>
  );
}

/** Returns true if the object does not exist, or was deleted. */
export function isGone({ error }: Query<unknown>): boolean {
  return error?.status === 404;
}

/** Shows data once it is loaded. The error of a later attempt appears above the previous data, unless that is deleted. */
export function Loaded<Data>({ of, children }: { of: Query<Data>; children: (data: Data) => ComponentChildren }) {
  const { data, error, reload } = of;
  if (error !== undefined && isGone(of)) {
    const wasShown = data !== undefined;
    return (
      <Gone title={wasShown ? "Deleted." : "Not found."}>{wasShown ? "It no longer exists." : error.message}</Gone>
    );
  }
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined ? (error?.status ?? 0) === 0 && <Loading /> : children(data)}
    </>
  );
}

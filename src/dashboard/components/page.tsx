import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { environment, hasMoved, Link } from "../router.tsx";

interface PageProps {
  title: string;
  /** Where the heading leads back to. */
  back?: { href: string; label: string };
  subtitle?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page's frame. The heading takes the focus, so that a screen reader says where a link has led. */
export function Page({ title, back, subtitle, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasMoved()) heading.current?.focus({ preventScroll: true });
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
              ← {back.label}
            </Link>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {subtitle !== undefined && <div class="soft">{subtitle}</div>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A titled part of a page. */
export function Card({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Names and values; what has no value is left out. */
export function Facts({ rows }: { rows: readonly (readonly [label: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value ?? <span class="soft">–</span>}</dd>
          </div>
        ))}
    </dl>
  );
}

import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "./api/call.ts";
import { liveState } from "./api/live.ts";
import { kindsWith, type Resource, RESOURCES } from "../contract/resources.ts";
import type { Session } from "../contract/schemas/account.ts";
import { clockOffset } from "./clock.ts";
import { say } from "./components/toasts.tsx";
import { duration } from "./format.ts";
import { environment, hrefOf, Link, place } from "./router.tsx";

const SECTIONS = (["Activity", "Business", "Developers"] as const).map((title) => ({
  title,
  links: [
    ...(title === "Activity" ? [["", "Overview"] as const] : []),
    ...kindsWith("page").flatMap((kind) => {
      const { labels, page }: Resource = RESOURCES[kind];
      return page?.section === title ? [[page.name, page.label ?? labels] as const] : [];
    }),
  ],
}));

const isMenuOpen = signal(false);
const isLive = computed(() => environment.value === "live");

export function Shell({ children }: { children: ComponentChildren }) {
  const { page } = place.value;
  useEffect(() => {
    document.documentElement.dataset["environment"] = environment.value;
  }, [environment.value]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Banner />
      <nav
        class={isMenuOpen.value ? "open" : undefined}
        id="menu"
        aria-label="Pages"
        onClick={() => (isMenuOpen.value = false)}
        onKeyDown={closeOnEscape}
      >
        {SECTIONS.map(({ title, links }) => (
          <div key={title}>
            <p class="nav-title">{title}</p>
            <ul>
              {links.map(([name, label]) => (
                <li key={name}>
                  <Link href={hrefOf(name)} current={page === name}>
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <ul class="nav-end">
          <li>
            <a href="/account">Password & sign-in</a>
          </li>
          <li>
            <button type="button" class="plain" onClick={() => void signOut()}>
              Sign out
            </button>
          </li>
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function closeOnEscape({ key }: KeyboardEvent): void {
  if (key !== "Escape" || !isMenuOpen.value) return;
  isMenuOpen.value = false;
  document.querySelector<HTMLElement>(".menu-button")?.focus();
}

/** Which environment is shown: said in words and by the look of the whole bar, and switched in the same place. */
function Banner() {
  const { page } = place.value;
  return (
    <header class="banner" onKeyDown={closeOnEscape}>
      <button
        type="button"
        class="menu-button"
        aria-expanded={isMenuOpen.value}
        aria-controls="menu"
        onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
      >
        Menu
      </button>
      <span class="brand">Service</span>
      <p class="banner-words">
        {isLive.value ? (
          <>
            <strong>LIVE</strong> <span class="minor">Real customers, real endpoints</span>
          </>
        ) : (
          <>
            <strong>SANDBOX</strong> <span class="minor">Test data only</span>
          </>
        )}
        {clockOffset.value > 0 && <span class="minor">· clock {duration(clockOffset.value / 1000)} ahead</span>}
      </p>
      <LiveSign />
      <div class="switch" role="group" aria-label="Environment">
        <Link href={hrefOf(page, "", {}, "sandbox")} current={!isLive.value}>
          Sandbox
        </Link>
        <Link href={hrefOf(page, "", {}, "live")} current={isLive.value}>
          Live
        </Link>
      </div>
    </header>
  );
}

const LIVE_WORDS = { live: "Updating", connecting: "Connecting…", paused: "Paused" } as const;

function LiveSign() {
  const state = liveState.value;
  return (
    <span class={`live-sign ${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="minor" aria-hidden="true">
        {LIVE_WORDS[state]}
      </span>
      <span class="sr-only">{LIVE_WORDS[state]}</span>
    </span>
  );
}

async function signOut(): Promise<void> {
  try {
    const { data } = await call<{ data: Session[] }>("GET", "/v1/sessions");
    const current = data.find(({ is_current: isCurrent }) => isCurrent);
    if (current !== undefined) await call("DELETE", `/v1/sessions/${current.id}`);
    location.assign("/sign-in");
  } catch {
    say("Signing out did not work: try again.", false);
  }
}

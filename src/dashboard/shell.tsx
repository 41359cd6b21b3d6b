import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { capitalized } from "../contract/words.ts";
import type { Identity, Session } from "../contract/schemas/account.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import { useCall } from "./api/call.ts";
import { liveState } from "./api/live.ts";
import { useQuery } from "./api/store.ts";
import { clockOffset } from "./clock.ts";
import { openCommands, SECTIONS } from "./menu.ts";
import { Options } from "./components/form.tsx";
import { Icon } from "./components/icon.tsx";
import { Outage } from "./components/outage.tsx";
import { showToast } from "./components/toasts.tsx";
import { isFailing, useEndpoints } from "./api/endpoints.ts";
import { environment, hrefOf, Link, route } from "./router.tsx";
import { SandboxTime } from "./sandbox-time.tsx";
import { showTheme, theme, type Theme, THEMES } from "./theme.ts";

const isMenuOpen = signal(false);
const isLive = computed(() => environment.value === "live");

export function Shell({ children }: { children: ComponentChildren }) {
  useEffect(() => {
    document.documentElement.dataset["environment"] = environment.value;
  }, [environment.value]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Bar />
      <Menu />
      <main id="main" tabIndex={-1}>
        <Outage />
        {children}
      </main>
      <EnvironmentClock />
    </div>
  );
}

/** Follows the sandbox's clock, which others may move. Until it is known, real time is used. */
function EnvironmentClock() {
  const { data } = useQuery<TestClock>(isLive.value ? undefined : "/v1/test_clock");
  const seconds = data?.offset_seconds ?? 0;
  useEffect(() => {
    clockOffset.value = seconds * 1000;
  }, [seconds]);
  return null;
}

function closeOnEscape({ key }: KeyboardEvent): void {
  if (key !== "Escape" || !isMenuOpen.value) return;
  isMenuOpen.value = false;
  document.querySelector<HTMLElement>(".menu-button")?.focus();
}

/** The environment, and the controls of every page. */
function Bar() {
  const { page } = route.value;
  return (
    <header class="bar" onKeyDown={closeOnEscape}>
      <button
        type="button"
        class="menu-button bare"
        aria-expanded={isMenuOpen.value}
        aria-controls="menu"
        aria-label="Menu"
        onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
      >
        <Icon name="menu" />
      </button>
      <Link class="brand" href={hrefOf("")}>
        Service
      </Link>
      <div class="switch" role="group" aria-label="Environment">
        <Link href={hrefOf(page, "", {}, "sandbox")} current={!isLive.value}>
          Sandbox
        </Link>
        <Link href={hrefOf(page, "", {}, "live")} current={isLive.value}>
          Live
        </Link>
      </div>
      {!isLive.value && <SandboxTime />}
      <button type="button" class="find" onClick={() => (openCommands.value = "palette")}>
        <Icon name="search" />
        <span class="minor">Find anything, or type a command</span>
        <kbd>Ctrl K</kbd>
      </button>
      <LiveSign />
    </header>
  );
}

function Menu() {
  const call = useCall();
  const { page } = route.value;
  const { data } = useQuery<Identity>("/v1/me");
  const { data: statistics } = useQuery<Statistics>("/v1/statistics");
  const countsOf = (id: string) => statistics?.endpoints.find(({ endpoint }) => endpoint === id);
  // As the overview counts them.
  const failing = (useEndpoints().items ?? []).filter((one) => isFailing(one, countsOf(one.id))).length;
  return (
    <nav
      class={isMenuOpen.value ? "open" : undefined}
      id="menu"
      aria-label="Pages"
      onClick={({ target }) => {
        if ((target as HTMLElement).closest("a, button") !== null) isMenuOpen.value = false;
      }}
      onKeyDown={closeOnEscape}
    >
      {SECTIONS.map(({ title, links }) => (
        <div key={title}>
          <p class="nav-title">{title}</p>
          <ul>
            {links
              .filter(([name]) => !isLive.value || name !== "clock")
              .map(([name, label]) => (
                <li key={name}>
                  <Link href={hrefOf(name)} current={page === name}>
                    {label}
                    {name === "endpoints" && failing > 0 && (
                      <span class="failing-count" title="Failing endpoints" aria-hidden="true">
                        {failing}
                      </span>
                    )}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
      <div class="nav-end">
        <ul>
          <li>
            <a href="/docs">Guides</a>
          </li>
          <li>
            <a href="/docs/reference">API reference</a>
          </li>
          <li>
            <a href="/account">Password & sign-in</a>
          </li>
          <li>
            <button type="button" onClick={() => void signOut(call)}>
              Sign out
            </button>
          </li>
        </ul>
        <label class="theme">
          Theme
          <select value={theme.value} onChange={({ currentTarget }) => showTheme(currentTarget.value as Theme)}>
            <Options of={THEMES.map((name) => [name, capitalized(name)] as const)} />
          </select>
        </label>
        <p class="who soft one-line" dir="auto" title={data?.user?.email}>
          {data?.user?.email}
        </p>
      </div>
    </nav>
  );
}

const LIVE_WORDS = {
  live: "Live updates",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  paused: "Paused",
} as const;

function LiveSign() {
  const state = liveState.value;
  return (
    <span class={`live-sign ${state}`} role="status" title={LIVE_WORDS[state]}>
      <span class="dot" aria-hidden="true" />
      {/* Words would move what is beside them whenever a page opens. */}
      <span class={state === "live" || state === "connecting" ? "sr-only" : "minor"}>{LIVE_WORDS[state]}</span>
    </span>
  );
}

async function signOut(call: ReturnType<typeof useCall>): Promise<void> {
  try {
    const { data } = await call<{ data: Session[] }>("GET", "/v1/sessions");
    const current = data.find(({ is_current: isCurrent }) => isCurrent);
    if (current !== undefined) await call("DELETE", `/v1/sessions/${current.id}`);
    location.assign("/sign-in");
  } catch {
    showToast("Couldn't sign out. Try again.", false);
  }
}

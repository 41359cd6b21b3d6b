import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type KindWith, OBJECT_KINDS, type ObjectKind, RESOURCES } from "../contract/resources.ts";
import { HEADERS } from "../contract/headers.ts";
import { nearest } from "../contract/nearest.ts";
import { signedOut } from "./api/call.ts";
import { follow, startLive } from "./api/live.ts";
import { startStore } from "./api/store.ts";
import { Commands } from "./commands.tsx";
import { showToast, Toasts } from "./components/toasts.tsx";
import { wasResetHere } from "./reset.ts";
import { Overview } from "./pages/overview/index.tsx";
import { environment, hrefOf, Link, route, settle } from "./router.tsx";
import { Shell } from "./shell.tsx";
import { Page } from "./components/page.tsx";
import { openCommands, SECTIONS } from "./menu.ts";
import { lazy } from "./lazy.tsx";
import { remember } from "./theme.ts";

function NotFound() {
  const { page, id } = route.value;
  const labels = new Map<string, string>(SECTIONS.flatMap(({ links }) => links));
  const near = nearest(page, [...labels.keys()].filter(Boolean));
  return (
    <Page
      title="Page not found"
      headline={
        <section class="answer" aria-label="Result">
          <p>This page does not exist.</p>
          <p class="evidence">
            {near.length > 0 ? "You may have meant:" : "Check the address, or choose a page from the menu."}
          </p>
          <div class="row-actions remedy">
            {near.map((name) => (
              <Link key={name} class="button" href={hrefOf(name, id)}>
                {labels.get(name)}
              </Link>
            ))}
            <Link class="button" href={hrefOf("")}>
              Overview
            </Link>
            <button type="button" onClick={() => (openCommands.value = "palette")}>
              Find anything <kbd>Ctrl K</kbd>
            </button>
          </div>
        </section>
      }
    >
      {null}
    </Page>
  );
}

type OwnPage = (typeof RESOURCES)[Exclude<KindWith<"page">, ObjectKind>]["page"]["name"];

const OWN_PAGES: Record<OwnPage | "" | "why", ComponentType> = {
  "": Overview,
  why: lazy("Why"),
  events: lazy("Events"),
  deliveries: lazy("Deliveries"),
  endpoints: lazy("Endpoints"),
  keys: lazy("ApiKeys"),
  apps: lazy("Apps"),
  people: lazy("TeamPage"),
  logs: lazy("RequestLogs"),
  clock: lazy("SandboxPage"),
};

const ObjectPage = lazy("ObjectPage");

const PAGES: Partial<Record<string, ComponentType>> = {
  ...OWN_PAGES,
  ...Object.fromEntries(OBJECT_KINDS.map((kind) => [RESOURCES[kind].page.name, () => <ObjectPage kind={kind} />])),
};

if (__DEVELOPMENT__) {
  const { Components } = await import("./pages/components.tsx");
  PAGES["components"] = Components;
}

export function App() {
  const shown = environment.value;
  useEffect(() => {
    // The URL always names the environment, so that a copied one shows the same.
    const { page, id, query } = route.value;
    if (!location.pathname.startsWith(hrefOf(""))) settle(hrefOf(page, id, Object.fromEntries(query)));
    const stops = [
      startStore(),
      follow({
        missed(reason) {
          if (reason === "reset" && !wasResetHere()) showToast("The sandbox was reset");
          else if (reason === "gap")
            showToast("Some events are missing here: the platform no longer stores them.", false);
        },
      }),
      startLive(shown),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [shown]);
  const { page, id } = route.value;
  const Shown = PAGES[page] ?? NotFound;
  return (
    <>
      {signedOut.value && <SignedOut />}
      {/* Hidden, not removed: what was entered is still there after signing in again. */}
      <div hidden={signedOut.value}>
        <Shell>
          <Shown key={`${shown} ${page} ${id}`} />
        </Shell>
        <Toasts />
        <Commands />
      </div>
    </>
  );
}

// Other tabs, which may show that the user is signed out, notice it.
remember("service-opened", String(Date.now()));

/** Continues as the user who signed in again in another tab. */
async function resume(): Promise<void> {
  const response = await fetch("/v1/me", { headers: { [HEADERS.environment]: environment.value } });
  if (response.ok) signedOut.value = false;
}

/** A dialog: an open form may be one, too, and nothing outside of the topmost dialog can be clicked. */
function SignedOut() {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => element.current?.showModal(), []);
  useEffect(() => {
    // The user comes back from the tab in which they signed in.
    const onReturn = () => {
      if (document.visibilityState === "visible") void resume();
    };
    const onStorage = () => void resume();
    addEventListener("storage", onStorage);
    addEventListener("focus", onReturn);
    document.addEventListener("visibilitychange", onReturn);
    return () => {
      removeEventListener("storage", onStorage);
      removeEventListener("focus", onReturn);
      document.removeEventListener("visibilitychange", onReturn);
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="signed-out"
      aria-labelledby="signed-out"
      onCancel={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        // A browser closes a dialog at a second Escape without an event.
        if (event.key === "Escape") event.preventDefault();
      }}
    >
      <p class="brand">Service</p>
      <h1 id="signed-out">You are signed out</h1>
      <p>Your session has expired, or you signed out in another tab. You return to this page after signing in.</p>
      <a class="button primary" href={location.pathname + location.search}>
        Sign in again
      </a>
      <section>
        <p class="soft">To keep what you entered on this page, sign in using another tab instead.</p>
        <div class="row-actions">
          <a class="button" href="/dashboard" target="_blank" rel="noreferrer">
            Open another tab
          </a>
          <button type="button" onClick={() => void resume()}>
            I have signed in
          </button>
        </div>
      </section>
    </dialog>
  );
}

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type KindWith, OBJECT_KINDS, type ObjectKind, RESOURCES } from "../contract/resources.ts";
import { asCallError, type CallError, signedOut } from "./api/call.ts";
import { follow, startLive } from "./api/live.ts";
import { startStore } from "./api/store.ts";
import { Commands } from "./commands.tsx";
import { showToast, Toasts } from "./components/toasts.tsx";
import { ApiKeys } from "./pages/api-keys/index.tsx";
import { Apps } from "./pages/apps.tsx";
import { Deliveries } from "./pages/deliveries.tsx";
import { Endpoints } from "./pages/endpoints/index.tsx";
import { Events } from "./pages/events/index.tsx";
import { objectPage } from "./pages/objects/index.tsx";
import { Overview } from "./pages/overview/index.tsx";
import { TeamPage } from "./pages/team.tsx";
import { RequestLogs } from "./pages/request-logs.tsx";
import { SandboxPage } from "./pages/sandbox.tsx";
import { environment, hrefOf, Link, route, settle } from "./router.tsx";
import { Shell } from "./shell.tsx";
import { Empty, ErrorBox, Loading, Page } from "./components/page.tsx";

function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page does not exist">
        <p>
          <Link href={hrefOf("")}>Go to the overview</Link>
        </p>
      </Empty>
    </Page>
  );
}

let Why: ComponentType | undefined;

/** The explanation, whose code is loaded when it is first opened. */
function LazyWhy() {
  const [error, setError] = useState<CallError>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (Why !== undefined) return;
    import("./pages/why.tsx").then(
      (module) => {
        ({ Why } = module);
        setTries(tries + 1);
      },
      (problem: unknown) => setError(asCallError(problem)),
    );
  }, [tries]);
  if (Why !== undefined) return <Why />;
  const again = () => {
    setError(undefined);
    setTries(tries + 1);
  };
  return (
    <Page title="Explanation">
      {error === undefined ? <Loading what="Loading" /> : <ErrorBox error={error} onRetry={again} />}
    </Page>
  );
}

type OwnPage = (typeof RESOURCES)[Exclude<KindWith<"page">, ObjectKind>]["page"]["name"];

const OWN_PAGES: Record<OwnPage | "" | "why", ComponentType> = {
  "": Overview,
  why: LazyWhy,
  events: Events,
  deliveries: Deliveries,
  endpoints: Endpoints,
  keys: ApiKeys,
  apps: Apps,
  people: TeamPage,
  logs: RequestLogs,
  clock: SandboxPage,
};

const PAGES: Partial<Record<string, ComponentType>> = {
  ...OWN_PAGES,
  ...Object.fromEntries(OBJECT_KINDS.map((kind) => [RESOURCES[kind].page.name, objectPage(kind)])),
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
          if (reason === "reset") showToast("The sandbox was reset");
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
  if (signedOut.value) return <SignedOut />;
  const { page, id } = route.value;
  const Shown = PAGES[page] ?? NotFound;
  return (
    <Shell>
      <Shown key={`${shown} ${page} ${id}`} />
      <Toasts />
      <Commands />
    </Shell>
  );
}

function SignedOut() {
  return (
    <main class="signed-out">
      <h1>You are signed out</h1>
      <p>Your session has expired, or you signed out in another tab.</p>
      <p>
        <a class="button primary" href={location.pathname + location.search}>
          Sign in again
        </a>
      </p>
    </main>
  );
}

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { signedOut } from "./api/call.ts";
import { startLive } from "./api/live.ts";
import { kindsWith, type KindWith, type ObjectKind, RESOURCES } from "../contract/resources.ts";
import { Toasts } from "./components/toasts.tsx";
import { EnvironmentClock } from "./environment-clock.tsx";
import { ApiKeys } from "./pages/api-keys/index.tsx";
import { Apps } from "./pages/apps/index.tsx";
import { Deliveries } from "./pages/deliveries/index.tsx";
import { Endpoints } from "./pages/endpoints/index.tsx";
import { Events } from "./pages/events/index.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { objectPage } from "./pages/objects/index.tsx";
import { Overview } from "./pages/overview/index.tsx";
import { People } from "./pages/people/index.tsx";
import { RequestLogs } from "./pages/request-logs/index.tsx";
import { TestClockPage } from "./pages/test-clock/index.tsx";
import { environment, hrefOf, place, settle } from "./router.tsx";
import { Shell } from "./shell.tsx";

type OwnPage = (typeof RESOURCES)[Exclude<KindWith<"page">, ObjectKind>]["page"]["name"];

const OWN_PAGES: Record<OwnPage | "", ComponentType> = {
  "": Overview,
  events: Events,
  deliveries: Deliveries,
  endpoints: Endpoints,
  keys: ApiKeys,
  apps: Apps,
  people: People,
  logs: RequestLogs,
  clock: TestClockPage,
};

const PAGES: Readonly<Partial<Record<string, ComponentType>>> = {
  ...OWN_PAGES,
  ...Object.fromEntries(kindsWith("fields").map((kind) => [RESOURCES[kind].page.name, objectPage(kind)])),
};

export function App() {
  const shown = environment.value;
  useEffect(() => {
    // The address always names the environment, so that a copied one shows the same.
    if (!location.pathname.startsWith(hrefOf(""))) settle(hrefOf(""));
    return startLive();
  }, [shown]);
  if (signedOut.value) return <SignedOut />;
  const { page, id } = place.value;
  const Shown = PAGES[page] ?? NotFound;
  return (
    <Shell>
      <Shown key={`${shown} ${page} ${id}`} />
      <Toasts />
      <EnvironmentClock />
    </Shell>
  );
}

function SignedOut() {
  return (
    <main class="signed-out">
      <h1>You are signed out</h1>
      <p>The session has ended, here or in another tab.</p>
      <p>
        <a class="button primary" href={location.pathname}>
          Sign in again
        </a>
      </p>
    </main>
  );
}

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { type KindWith, OBJECT_KINDS, type ObjectKind, RESOURCES } from "../contract/resources.ts";
import { signedOut } from "./api/call.ts";
import { follow, startLive } from "./api/live.ts";
import { startStore } from "./api/store.ts";
import { Commands } from "./commands.tsx";
import { showToast, Toasts } from "./components/toasts.tsx";
import { wasResetHere } from "./reset.ts";
import { Overview } from "./pages/overview/index.tsx";
import { environment, hrefOf, route, settle } from "./router.tsx";
import { Shell } from "./shell.tsx";
import { lazy } from "./lazy.tsx";
import { remember } from "./theme.ts";

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
const NotFound = lazy("NotFound");
const SignedOut = lazy("SignedOut");

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

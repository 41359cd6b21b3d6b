import type { ComponentProps, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asCallError, type CallError } from "./api/call.ts";
import { ErrorBox, Loading } from "./components/page.tsx";
import type * as Pages from "./pages/later.ts";

type Later = typeof Pages;

let later: Later | undefined;
let loading: Promise<void> | undefined;

function load(): Promise<void> {
  loading ??= import("./pages/later.ts").then(
    (module) => {
      later = module;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

const FIRST_PAGE_MILLISECONDS = 500;
// The other pages then open at once, also without the platform.
setTimeout(() => void load().catch(() => {}), FIRST_PAGE_MILLISECONDS);

/** Returns a component whose code is loaded after the first page, or when it is shown. */
export function lazy<Name extends keyof Later>(name: Name): ComponentType<ComponentProps<Later[Name]>> {
  return function Lazy(props) {
    const [error, setError] = useState<CallError>();
    const [tries, setTries] = useState(0);
    useEffect(() => {
      if (later !== undefined) return;
      load().then(
        () => setTries(tries + 1),
        (problem: unknown) => setError(asCallError(problem)),
      );
    }, [tries]);
    if (later !== undefined) {
      const Loaded = later[name] as ComponentType<typeof props>;
      return <Loaded {...props} />;
    }
    if (error === undefined) return <Loading />;
    const again = () => {
      setError(undefined);
      setTries(tries + 1);
    };
    return <ErrorBox error={error} onRetry={again} />;
  };
}

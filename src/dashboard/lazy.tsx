import { signal } from "@preact/signals";
import type { ComponentProps, ComponentType } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { asCallError, type CallError } from "./api/call.ts";
import { ErrorBox, Loading } from "./components/page.tsx";
import type * as Pages from "./pages/later.ts";

type Later = typeof Pages;

/** Signals, because the code may arrive between a component's rendering and its effects. */
const later = signal<Later>();
const failure = signal<CallError>();
let isLoading = false;

async function load(): Promise<void> {
  if (isLoading || later.value !== undefined) return;
  isLoading = true;
  failure.value = undefined;
  try {
    later.value = await import("./pages/later.ts");
  } catch (error) {
    failure.value = asCallError(error);
  }
  isLoading = false;
}

const FIRST_PAGE_MILLISECONDS = 500;
// The other pages then open at once, also without the platform.
setTimeout(() => void load(), FIRST_PAGE_MILLISECONDS);

/** Returns a component whose code is loaded after the first page, or when it is shown. */
export function lazy<Name extends keyof Later>(name: Name): ComponentType<ComponentProps<Later[Name]>> {
  return function Lazy(props) {
    useLayoutEffect(() => void load(), []);
    if (later.value !== undefined) {
      const Loaded = later.value[name] as ComponentType<typeof props>;
      return <Loaded {...props} />;
    }
    return failure.value === undefined ? <Loading /> : <ErrorBox error={failure.value} onRetry={() => void load()} />;
  };
}

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { HEADERS } from "../../contract/headers.ts";
import { signedOut } from "../api/call.ts";
import { environment } from "../router.tsx";

/** Continues as the user who signed in again in another tab. */
async function resume(): Promise<void> {
  const response = await fetch("/v1/me", { headers: { [HEADERS.environment]: environment.value } });
  if (response.ok) signedOut.value = false;
}

/**
 * Says that the session has ended. A dialog: an open form may be one, too, and nothing outside of the topmost dialog can
 * be clicked.
 */
export function SignedOut() {
  const element = useRef<HTMLDialogElement>(null);
  const [hasForm] = useState(() => document.querySelector("form") !== null);
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
      {hasForm && (
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
      )}
    </dialog>
  );
}

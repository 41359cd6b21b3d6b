import { useLayoutEffect } from "preact/hooks";
import { Dialog } from "./components/dialog.tsx";
import { hrefOfId } from "./components/values.tsx";
import { lazy } from "./lazy.tsx";
import { advanceBy, NOTHING_TYPED, openCommands, retryTo, typedAhead } from "./menu.ts";
import { filter, go, hasMoved, hrefOf, peek, peekedId, route } from "./router.tsx";

const KEYS = [
  ["Ctrl K", "Find anything, or run a command"],
  ["/", "Focus the search of this page"],
  ["j / k", "Next or previous row, also on its page"],
  ["Enter", "Show the row next to the list, then its page"],
  ["r", "Retry or replay it"],
  ["n", "Show new rows of the list"],
  ["Escape", "Close the row, menu or dialog; go back to the list, or from an explanation"],
  ["?", "Show these shortcuts"],
] as const;

const Palette = lazy("Palette");
const AdvanceDialog = lazy("AdvanceDialog");
const RetryDialog = lazy("RetryDialog");

/** The palette, the list of shortcuts and the dialogs that any page can open, and the keys that work on every page. */
export function Commands() {
  useLayoutEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const close = () => (openCommands.value = undefined);
  if (advanceBy.value !== undefined) {
    return <AdvanceDialog seconds={advanceBy.value} onClose={() => (advanceBy.value = undefined)} />;
  }
  if (retryTo.value !== undefined) {
    const { value: endpoint } = retryTo;
    return (
      <RetryDialog
        endpoint={endpoint ?? undefined}
        failingSince={endpoint?.failingSince}
        onClose={() => (retryTo.value = undefined)}
      />
    );
  }
  if (openCommands.value === "palette") return <Palette onClose={close} />;
  if (openCommands.value !== "keys") return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="keys">
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function onKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k") {
    event.preventDefault();
    openCommands.value = "palette";
    return;
  }
  if (openCommands.value === "palette" && document.querySelector("dialog.palette") === null) return typeAhead(event);
  const isTyping = target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
  if (isTyping || ctrlKey || metaKey || altKey) return;
  if (key === "?") openCommands.value = "keys";
  else if (key === "/") {
    const field = document.querySelector<HTMLElement>("main input[type=search]");
    if (field === null) openCommands.value = "palette";
    else field.focus();
  } else if ((key === "j" || key === "k") && document.querySelector(".neighbors") === null) {
    moveToRow(key === "j" ? 1 : -1);
  } else if (key === "Escape" && peekedId.value !== "") closePeek();
  else if (key === "Escape" && hasMoved() && document.querySelector(".neighbors") !== null) history.back();
  else if (key === "Escape" && route.value.page === "why") {
    // Back to the page from which the explanation was opened; of a link from elsewhere, to what it explains.
    if (hasMoved()) history.back();
    else go(hrefOfId(route.value.id) ?? hrefOf(""));
  } else if (!follow(key)) return;
  event.preventDefault();
}

/** Keeps a key for the palette, which is not there yet. */
function typeAhead(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey } = event;
  if (ctrlKey || metaKey) return;
  if (key === "Escape") {
    openCommands.value = undefined;
    Object.assign(typedAhead, NOTHING_TYPED);
  } else if (key === "Enter") typedAhead.isEntered = true;
  else if (key === "Backspace") typedAhead.text = typedAhead.text.slice(0, -1);
  else if (key.length === 1) typedAhead.text += key;
  else return;
  event.preventDefault();
}

/** Does what a key stands for on this page, in the row next to the list first. Returns false for other keys. */
function follow(key: string): boolean {
  if (!/^[a-z]$/.test(key)) return false;
  const found = [".peek ", "main "].map((place) =>
    document.querySelector<HTMLElement>(`${place}[data-shortcut=${key}]`),
  );
  const target = found.find((element) => element !== null);
  // A page that is an explanation has no link to it.
  const { page, id } = route.value;
  const shown = peekedId.value || id;
  if (target !== undefined) target.click();
  else if (key === "e" && page !== "why" && shown !== "" && document.querySelector("main .answer"))
    go(hrefOf("why", shown));
  else return false;
  return true;
}

/** Closes the row next to the list, which has the focus again. */
function closePeek(): void {
  const { value: id } = peekedId;
  filter({ peek: "" });
  document.querySelector<HTMLElement>(`main [data-row-id="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

function moveToRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter(
    (row) => row.querySelector("a") && row.closest(".peek") === null,
  );
  const chosen = rows.findIndex((row) => row.contains(document.activeElement));
  const current = chosen === -1 ? rows.findIndex((row) => row.querySelector("[data-peeked]")) : chosen;
  const next = rows[current === -1 ? (step === 1 ? 0 : -1) : current + step];
  const link = next?.querySelector<HTMLElement>("a[data-row-id]") ?? next?.querySelector("a");
  link?.focus({ focusVisible: true });
  link?.scrollIntoView({ block: "nearest" });
  const id = link?.dataset["rowId"];
  if (id !== undefined && peekedId.value !== "") peek(id);
}

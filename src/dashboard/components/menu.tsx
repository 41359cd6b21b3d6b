import { useEffect, useId, useRef, useState } from "preact/hooks";

export interface MenuItem {
  label: string;
  /** What it does, in a second line. */
  hint?: string;
  onSelect: () => void;
  isDanger?: boolean;
}

/** Actions that are needed less often, as the menu button pattern of the ARIA Authoring Practices. */
export function MoreMenu(props: { items: readonly MenuItem[]; of?: string; label?: string; isDisabled?: boolean }) {
  const { items, of, label = of === undefined ? "More" : "…", isDisabled = false } = props;
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const entries = () => [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!isOpen) return undefined;
    entries()[0]?.focus();
    const onPointer = (event: PointerEvent) => {
      if (!box.current!.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", onPointer);
    return () => removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  const onKey = (event: KeyboardEvent) => {
    if (!isOpen) return;
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const { [event.key]: target } = targets;
    if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else if (target !== undefined) all.at(target % all.length)?.focus();
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu-box" ref={box} onKeyDown={onKey}>
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={of === undefined ? undefined : `More for ${of}`}
        class={of === undefined ? undefined : "small"}
        disabled={isDisabled}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && (
        <div class="menu" role="menu" id={id} aria-label="More actions">
          {items.map(({ label: name, hint, onSelect, isDanger = false }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={isDanger ? "danger" : undefined}
              onClick={() => {
                close();
                onSelect();
              }}
            >
              {name}
              {hint !== undefined && <small>{hint}</small>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";

const SHOWN_MILLISECONDS = 2000;

/**
 * Copies text; where the browser gives no clipboard (plain http on another machine), the button says that the text is to
 * be selected by hand.
 */
export function Copy({ text, what }: { text: string; what: string }) {
  const [outcome, setOutcome] = useState<"Copied" | "Select it by hand">();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      setOutcome("Select it by hand");
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(undefined), SHOWN_MILLISECONDS);
  };
  return (
    <button
      type="button"
      class="small copy"
      onClick={() => void copy()}
      aria-label={outcome === undefined ? `Copy ${what}` : `${outcome}: ${what}`}
    >
      {outcome ?? "Copy"}
    </button>
  );
}

/** An id that is meant to be read and copied. */
export function Id({ id }: { id: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <Copy text={id} what={id} />
    </span>
  );
}

/** A command or secret on a line of its own, which breaks between its words and not within them. */
export function CopyLine({ text, what }: { text: string; what: string }) {
  return (
    <div class="copy-line">
      <code>
        {text.split(" ").map((word, index) => (
          <>
            {index > 0 && " "}
            <span>{word}</span>
          </>
        ))}
      </code>
      <Copy text={text} what={what} />
    </div>
  );
}

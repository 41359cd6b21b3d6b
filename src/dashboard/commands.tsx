import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { kindsWith, nounOf, type Resource, RESOURCES } from "../contract/resources.ts";
import { explainedKind } from "../explain/chain.ts";
import { Dialog } from "./components/dialog.tsx";
import { Icon, type IconName, iconOf } from "./components/icon.tsx";
import { hrefOfId } from "./components/values.tsx";
import { environment, go, hrefOf, route } from "./router.tsx";
import { showTheme, THEMES } from "./theme.ts";

/** Which dialog of commands is open. */
export const openCommands = signal<"palette" | "keys">();

interface Command {
  label: string;
  icon?: IconName;
  run: () => void;
}

/** Pages of the menu by their section. */
export const SECTIONS = (["Activity", "Business", "Developers"] as const).map((title) => ({
  title,
  links: [
    ...(title === "Activity" ? [["", "Overview"] as const] : []),
    ...kindsWith("page").flatMap((kind) => {
      const { labels, page }: Resource = RESOURCES[kind];
      return page?.section === title ? [[page.name, page.label ?? labels] as const] : [];
    }),
  ],
}));

function allCommands(): Command[] {
  const other = environment.value === "live" ? "sandbox" : "live";
  return [
    ...SECTIONS.flatMap(({ links }) => links).map(([name, label]) => ({
      label: `Go to ${label}`,
      icon: iconOf(name),
      run: () => go(hrefOf(name)),
    })),
    ...kindsWith("fields").map((kind) => ({
      label: `Create ${nounOf(kind)}`,
      icon: iconOf(RESOURCES[kind].page.name),
      run: () => go(hrefOf(RESOURCES[kind].page.name, "", { create: "1" })),
    })),
    { label: `Switch to ${other}`, run: () => go(hrefOf(route.value.page, "", {}, other)) },
    ...THEMES.map((name) => ({ label: `Theme: ${name}`, run: () => showTheme(name) })),
    { label: "Keyboard shortcuts", run: () => (openCommands.value = "keys") },
  ];
}

/** Commands that hold every word of the text; an ID leads to its object. */
function commandsFor(text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/);
  const href = hrefOfId(text.trim());
  const found = href === undefined ? [] : idCommands(text.trim(), href);
  return [...found, ...allCommands().filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))];
}

function idCommands(id: string, href: string): Command[] {
  const open = { label: `Open ${id}`, run: () => go(href) };
  if (explainedKind(id) === undefined) return [open];
  return [open, { label: `Explain ${id}`, run: () => go(hrefOf("why", id)) }];
}

const KEYS = [
  ["Ctrl K", "Search, or go to a page or an ID"],
  ["/", "Focus the search of this page"],
  ["j / k", "Next or previous row"],
  ["Enter", "Open the row"],
  ["Escape", "Close the menu or dialog"],
  ["?", "Show these shortcuts"],
] as const;

/** The palette and the list of shortcuts, and the keys that work on every page. */
export function Commands() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const close = () => (openCommands.value = undefined);
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
  const isTyping = target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
  if (isTyping || ctrlKey || metaKey || altKey) return;
  if (key === "?") openCommands.value = "keys";
  else if (key === "/") {
    const field = document.querySelector<HTMLElement>("main input[type=search]");
    if (field === null) openCommands.value = "palette";
    else field.focus();
  } else if (key === "j" || key === "k") moveToRow(key === "j" ? 1 : -1);
  else return;
  event.preventDefault();
}

function moveToRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((row) => row.querySelector("a"));
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[current === -1 ? (step === 1 ? 0 : -1) : current + step];
  const link = next?.querySelector("a");
  link?.focus({ focusVisible: true });
  link?.scrollIntoView({ block: "nearest" });
}

function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const commands = commandsFor(text);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter and the arrows belong to the input method while it composes a word. Safari ends that before its Enter.
    if (event.isComposing || event.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(commands[chosen]);
    else if (step !== undefined) setChosen((chosen + step + commands.length) % Math.max(1, commands.length));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search and commands" onClose={onClose} class="palette" isForm={false}>
      <input
        type="search"
        {...({ role: "combobox" } as object)}
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={commands.length === 0 ? undefined : `command-${chosen}`}
        aria-label="Page, command or ID"
        placeholder="Page, command or ID, such as evt_…"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <li
            key={command.label}
            id={`command-${index}`}
            role="option"
            aria-selected={index === chosen}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: "nearest" });
            }}
            onClick={() => run(command)}
          >
            {command.icon !== undefined && <Icon name={command.icon} />}
            {command.label}
          </li>
        ))}
      </ul>
      {commands.length === 0 && <p class="soft">No matching pages or commands. A full ID opens its object.</p>}
    </Dialog>
  );
}

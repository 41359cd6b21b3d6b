import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { EVENT_TYPES } from "../contract/event-types.ts";
import { kindsWith, nounOf, RESOURCES } from "../contract/resources.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { explainedKind } from "../explain/chain.ts";
import { secondsOf } from "../contract/durations.ts";
import { nameOfEndpoint, useEndpoints } from "./api/endpoints.ts";
import { useQuery } from "./api/store.ts";
import { Dialog } from "./components/dialog.tsx";
import { Icon, iconOf } from "./components/icon.tsx";
import { hrefOfId } from "./components/values.tsx";
import { advanceBy, NOTHING_TYPED, openCommands, retryTo, SECTIONS, typedAhead } from "./menu.ts";
import { deliveryTerms } from "./pages/deliveries.tsx";
import { duration } from "./format.ts";
import { standingOf, TROUBLE, useStandings } from "./pages/overview/failures.tsx";
import { readTerms } from "./pages/filters.tsx";
import {
  cliCommands,
  type Command,
  ERROR_CODE,
  GROUPS,
  hasWords,
  lateInWords,
  TIME,
  useDocumentation,
  useFound,
  wordsOf,
} from "./palette-search.ts";
import { visits } from "./recent.ts";
import { environment, go, hrefOf, route } from "./router.tsx";
import { showTheme, THEMES } from "./theme.ts";

/** Words that users may search for instead of a page's name. */
const ALIASES: Readonly<Record<string, string>> = {
  endpoints: "webhook webhooks hook url subscription receiver",
  deliveries: "webhook attempts retries failed",
  events: "webhook activity",
  logs: "api requests calls",
  keys: "token secret credential",
  apps: "client third-party integration",
  clock: "time test clock reset snapshot advance",
  people: "users members invite sessions",
  "": "home dashboard",
};
const PAGES = SECTIONS.flatMap(({ links }) => links);
/** Before anything is typed: endpoints that need attention, but not the others, and the rest is found by its name. */
const FIRST_GROUPS = ["This page", "Endpoints", "Recent", "Pages"] as const;
const FIRST_SHOWN = 5;

/** A question without a subject: about what fails. */
const IS_WHY = /^(why|explain)\??$/i;

/** The actions of the page, by the text of their buttons. */
function actionsOfPage(): Command[] {
  const buttons = document.querySelectorAll<HTMLElement>(
    "main .page-head .actions > :is(button, a.button):not([aria-haspopup])",
  );
  return [...buttons]
    .filter((button) => button.textContent.trim() !== "" && !(button as HTMLButtonElement).disabled)
    .map((button) => ({ group: "This page", label: button.textContent.trim(), run: () => button.click() }));
}

/** Returns a question with `since 14:00` as the filter `since:14:00`, and the code of an error as `code:500`. */
function withTerms(wanted: string): string {
  if (ERROR_CODE.test(wanted)) return `code:${wanted}`;
  const [, since] = /\bsince (\S+)$/i.exec(wanted.replace(/\?$/, "")) ?? [];
  return since !== undefined && TIME.test(since) ? `since:${since}` : wanted;
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState(typedAhead.text);
  const [isEntered, setEntered] = useState(typedAhead.isEntered);
  const [chosen, setChosen] = useState(0);
  useLayoutEffect(() => void Object.assign(typedAhead, NOTHING_TYPED), []);
  const { current: actions } = useRef(actionsOfPage());
  const { items: known, error } = useEndpoints();
  const endpoints = known ?? [];
  const { data: statistics, error: uncounted } = useQuery<Statistics>("/v1/statistics");
  const { standings } = useStandings(statistics, known, undefined);
  /** The endpoints, the worst first: until they are counted, in the order of their list. */
  const ranked = standings.length > 0 ? standings : endpoints.map((endpoint) => standingOf(endpoint, undefined, []));
  const late = lateInWords(standings);
  const wanted = text.trim();
  const asked = wanted.replace(/^(why|explain)\s+|\s+why\??$/gi, "");
  const found = useFound(/\w:/.test(asked) ? "" : asked);
  const documented = useDocumentation(asked);
  const other = environment.value === "live" ? "sandbox" : "live";
  const all: Command[] = [
    ...actions,
    ...visits().map(({ label, href }): Command => {
      const [, , , page = "", id = ""] = href.split("/");
      const note = `${PAGES.find(([name]) => name === page)?.[1] ?? "Explain"} …${id.slice(-6)}`;
      return { group: "Recent", label, note, icon: iconOf(page), run: () => go(href) };
    }),
    ...PAGES.map(([name, label]): Command => ({
      group: "Pages",
      label: `Go to ${label}`,
      icon: iconOf(name),
      ...(ALIASES[name] === undefined ? {} : { aliases: ALIASES[name] }),
      run: () => go(hrefOf(name)),
    })),
    ...ranked.flatMap((standing): Command[] => {
      const { endpoint, state, rank } = standing;
      if (endpoint === undefined) return [];
      const { id, url, status, health } = endpoint;
      const name = nameOfEndpoint(endpoint);
      const isDisabled = status === "disabled";
      const isTroubled = rank >= TROUBLE || isDisabled;
      const own = lateInWords([standing]);
      const note = [isDisabled && "Disabled", own || (state === "failing" && "Failing")].filter(Boolean).join(", ");
      const open: Command = {
        group: "Endpoints",
        icon: "endpoints",
        // The page of an endpoint explains it.
        label: asked !== wanted && isTroubled ? `Explain ${name}` : name,
        note: note || undefined,
        aliases: `${url} webhook endpoint explain why nothing test ping send event enable disable replay ${isTroubled ? "failing fails failed broken" : ""}`,
        run: () => go(hrefOf("endpoints", id)),
      };
      if (wanted === "" || IS_WHY.test(wanted)) return isTroubled ? [open] : [];
      const list: Command = {
        ...open,
        label: `Deliveries to ${name}`,
        aliases: "",
        run: () => go(hrefOf("deliveries", "", { endpoint: id })),
      };
      const retry = retryCommand(`Retry deliveries to ${name}`, own, { id, name, failingSince: health.failing_since });
      return isDisabled || own === "" ? [open, list] : [open, list, retry];
    }),
    retryCommand("Retry deliveries", "", null),
    ...(late === "" || !/fail|undelivered|retrying/i.test(wanted)
      ? []
      : [
          {
            group: "Found",
            label: "Show failed deliveries",
            note: late,
            icon: "deliveries",
            aliases: "undelivered failures retrying",
            run: () => go(hrefOf("deliveries", "", { status: "undelivered" })),
          } satisfies Command,
        ]),
    ...kindsWith("fields").map((kind): Command => ({
      group: "Commands",
      label: `Create ${nounOf(kind)}`,
      aliases: "new add register",
      run: () => go(hrefOf(RESOURCES[kind].page.name, "", { create: "1" })),
    })),
    {
      group: "Commands",
      label: "Invite a user",
      aliases: "team member add",
      run: () => go(hrefOf("people", "", { create: "1" })),
    },
    ...(environment.value === "live" ? [] : advances(wanted)),
    {
      group: "Commands",
      label: "Explain the newest failure",
      aliases: "why",
      run: () => go(hrefOf("why")),
    },
    ...(
      [
        ["Guides", "/docs", "docs help documentation"],
        ["API reference", "/docs/reference", "docs openapi documentation"],
        ["Password & sign-in", "/account", "account sign out log out password"],
      ] as const
    ).map(([label, href, aliases]): Command => ({
      group: "Pages",
      label: `Go to ${label}`,
      aliases,
      icon: "docs",
      run: () => location.assign(href),
    })),
    { group: "Commands", label: `Switch to ${other}`, run: () => go(hrefOf(route.value.page, "", {}, other)) },
    ...THEMES.map((name): Command => ({ group: "Commands", label: `Theme: ${name}`, run: () => showTheme(name) })),
    { group: "Commands", label: "Keyboard shortcuts", run: () => (openCommands.value = "keys") },
  ];
  const words = wordsOf(wanted);
  const isNamed = ({ label, aliases = "" }: Command) => hasWords(`${label} ${aliases}`, words);
  // The same page, as the overview names it.
  const isShown = (label: string) =>
    actions.some((one) => one.label === label.replace(/^Explain (.*)/, "Why $1 fails") && isNamed(one));
  const isMatch = (one: Command) => isNamed(one) && (one.group === "This page" || !isShown(one.label));
  const matching =
    wanted === ""
      ? FIRST_GROUPS.flatMap((name) => all.filter(({ group }) => group === name).slice(0, FIRST_SHOWN))
      : all.filter(isMatch);
  const results =
    wanted === ""
      ? matching
      : [
          ...idCommands(asked),
          ...cliCommands(wanted),
          ...filterCommands(`${withTerms(wanted)} `, endpoints),
          ...EVENT_TYPES.filter((type) => wanted.includes(".") && type.startsWith(wanted)).map((type): Command => ({
            group: "Found",
            label: `Events of type ${type}`,
            icon: "events",
            run: () => go(hrefOf("events", "", { type })),
          })),
          ...matching,
          ...(found?.commands ?? []),
          ...documented,
        ].toSorted((a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
  const isNothing = found !== undefined && found.error === undefined && results.length === 0;
  const commands: Command[] = isNothing
    ? [
        {
          group: "Commands",
          label: `Search the deliveries for “${wanted}”`,
          note: "Nothing else was found",
          icon: "search",
          run: () => go(hrefOf("deliveries", "", { query: wanted })),
        },
      ]
    : results;
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  // Enter opens a row of the text as it is now: once those that come before it are found.
  const row = commands[chosen];
  const isBeforeObjects = row !== undefined && GROUPS.indexOf(row.group) < GROUPS.indexOf("Objects");
  const isFirst =
    (known ?? error) !== undefined &&
    (statistics ?? uncounted) !== undefined &&
    (isBeforeObjects || found !== undefined);
  useLayoutEffect(() => {
    if (!isEntered || !isFirst) return;
    setEntered(false);
    run(row);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter and the arrows belong to the input method while it composes a word. Safari ends that before its Enter.
    if (event.isComposing || event.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") setEntered(true);
    else if (step !== undefined) setChosen((now) => (now + step + commands.length) % Math.max(1, commands.length));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search and commands" onClose={onClose} class="palette" isForm={false}>
      <input
        type="text"
        autoComplete="off"
        spellcheck={false}
        {...({ role: "combobox" } as object)}
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={commands.length === 0 ? undefined : `command-${chosen}`}
        aria-label="Find anything, or type a command"
        placeholder="Find anything, or type a command"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
          setEntered(false);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <>
            {command.group !== commands[index - 1]?.group && (
              <li key={`group ${command.group}`} class="group" role="presentation">
                {command.group}
              </li>
            )}
            <li
              key={`${command.group} ${command.label} ${index}`}
              id={`command-${index}`}
              role="option"
              aria-selected={index === chosen}
              ref={(element) => {
                if (index === chosen) element?.scrollIntoView({ block: "nearest" });
              }}
              onClick={() => run(command)}
            >
              <Icon name={command.icon ?? "run"} />
              <span class="one-line" dir="auto">
                {command.label}
              </span>
              {command.note !== undefined &&
                (/^[a-z]{2,4}_[0-9A-Za-z]{22}$/.test(command.note) ? (
                  <code class="soft">{command.note}</code>
                ) : (
                  <span class="soft small-text">{command.note}</span>
                ))}
            </li>
          </>
        ))}
      </ul>
      {found?.error !== undefined ? (
        <p class="soft" role="status">
          Your data could not be searched. {found.error.message}
        </p>
      ) : (
        commands.length === 0 && (
          <p class="soft" role="status">
            Searching…
          </p>
        )
      )}
      <p class="palette-keys soft" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> move <kbd>Enter</kbd> open <kbd>Esc</kbd> close
      </p>
    </Dialog>
  );
}

/** Advances the clock by the duration that was typed, as the CLI takes it, or by the usual ones. */
function advances(wanted: string): Command[] {
  const [, number, unit] = /^(?:\+|(?:advance|skip)\b.*\s)(\d+) ?([smhdw])\w*$/i.exec(wanted) ?? [];
  const typed = secondsOf(`${number}${unit?.toLowerCase()}`);
  const spans = typed === undefined ? [3600, 86_400] : [typed];
  return spans.map((seconds) => ({
    group: typed === undefined ? "Commands" : "Found",
    label: `Advance the clock by ${duration(seconds)}`,
    aliases: `time skip ${typed === undefined ? "" : wanted}`,
    run: () => (advanceBy.value = seconds),
  }));
}

/** Opens the deliveries, where the outcome is shown, and the dialog that retries them. */
function retryCommand(label: string, note: string, to: NonNullable<typeof retryTo.value> | null): Command {
  return {
    group: "Commands",
    label,
    note: note || undefined,
    aliases: "failed resend replay send again",
    run: () => {
      go(hrefOf("deliveries", "", to === null ? {} : { endpoint: to.id }));
      retryTo.value = to;
    },
  };
}

/** A full ID leads to its object, and to its explanation. */
function idCommands(id: string): Command[] {
  const href = hrefOfId(id);
  if (href === undefined) return [];
  const open: Command = { group: "Found", label: `Open ${id}`, run: () => go(href) };
  if (explainedKind(id) === undefined) return [open];
  return [open, { group: "Found", label: `Explain ${id}`, run: () => go(hrefOf("why", id)) }];
}

/** Filters such as `status:failed endpoint:billing` lead to the deliveries that match. */
function filterCommands(text: string, endpoints: readonly WebhookEndpoint[]): Command[] {
  const { rest, filters } = readTerms(text, deliveryTerms(endpoints.map((one) => [one.id, nameOfEndpoint(one)])));
  if (Object.keys(filters).length === 0) return [];
  const query = { ...filters, ...(rest.trim() === "" ? {} : { query: rest.trim() }) };
  const terms = text.trim().replace(/^code:(\S+)$/, "response $1");
  return [{ group: "Found", label: `Deliveries: ${terms}`, run: () => go(hrefOf("deliveries", "", query)) }];
}

import { useEffect, useState } from "preact/hooks";
import { timeOfId } from "../contract/ids.ts";
import {
  kindsWith,
  lowerFirst,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  type Resource,
  RESOURCES,
} from "../contract/resources.ts";
import { inProject } from "../contract/shell-command.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import { asCallError, type CallError, useCall } from "./api/call.ts";
import type { Item } from "./api/objects.ts";
import { eachPage } from "./api/pages.ts";
import { type IconName, iconOf } from "./components/icon.tsx";
import { showToast } from "./components/toasts.tsx";
import { type Entry, find } from "./guides/ranking.ts";
import { count } from "./format.ts";
import { titleOf } from "./pages/objects/item.tsx";
import { pendingStates, type Standing } from "./pages/overview/failures.tsx";
import { environment, go, hrefOf } from "./router.tsx";

/** In the order in which they are shown. */
export const GROUPS = [
  "Found",
  "This page",
  "Recent",
  "Pages",
  "Endpoints",
  "Commands",
  "Objects",
  "Documentation",
] as const;

export interface Command {
  group: (typeof GROUPS)[number];
  label: string;
  /** Other names for it. */
  aliases?: string;
  note?: string | undefined;
  icon?: IconName;
  run: () => void;
}

const SEARCH_MILLISECONDS = 150;
const FOUND_PER_KIND = 4;
/** Each page searches a part of the objects, the newest first. */
const MAX_PAGES = 20;
const MAX_DOCUMENTED = 3;

/** Kinds of objects that are found by the beginning of their ID, besides those of the account. */
const BY_ID = [...OBJECT_KINDS, "event", "delivery", "webhook_endpoint", "request_log"] as const;
type Listed = Item & { type?: string; event_type?: string; url?: string; method?: string; path?: string };

/** What a search has found. */
interface Found {
  commands: readonly Command[];
  /** Why not everything could be searched. */
  error?: CallError | undefined;
}

/** Objects with some text in their values, or whose ID begins with it; undefined while they are searched for. */
export function useFound(text: string): Found | undefined {
  const call = useCall();
  const [found, setFound] = useState<Found & { text: string }>({ text: "", commands: [] });
  useEffect(() => {
    if (text.length < 2) return undefined;
    let isCurrent = true;
    const list = async (
      kind: (typeof BY_ID)[number],
      query: Record<string, string>,
      isWanted: (item: Listed) => boolean,
    ) => {
      const items: Listed[] = [];
      const limited = { ...query, limit: FOUND_PER_KIND + 1 };
      for await (const { data } of eachPage<Listed>(call, pathOf(kind), limited, MAX_PAGES)) {
        items.push(...data.filter(isWanted));
        if (items.length > FOUND_PER_KIND || !isCurrent) break;
      }
      return items;
    };
    const byText = async (kind: ObjectKind): Promise<Command[]> => {
      const items = await list(kind, { query: text }, (item) => hasText(item, text));
      const { labels, page } = RESOURCES[kind];
      const all: Command = {
        group: "Objects",
        label: `All ${lowerFirst(labels)} that match “${text}”`,
        icon: iconOf(page.name),
        run: () => go(hrefOf(page.name, "", { query: text })),
      };
      const commands = items.slice(0, FOUND_PER_KIND).map((item): Command => {
        const name = item["name"];
        // Two orders of an amount differ by their IDs.
        const end = kind === "customer" ? "" : `…${item.id.slice(-6)}`;
        const note = [typeof name === "string" ? name : "", item["status"], end].filter(Boolean).join(" · ");
        return {
          group: "Objects",
          label: titleOf(kind, item),
          icon: iconOf(page.name),
          note: note || RESOURCES[kind].label,
          run: () => go(hrefOf(page.name, item.id)),
        };
      });
      return items.length > FOUND_PER_KIND ? [...commands, all] : commands;
    };
    const byId = async (kind: (typeof BY_ID)[number], start: string): Promise<Command[]> => {
      const items = await list(kind, createdWith(start), ({ id }) => id.slice(id.indexOf("_") + 1).startsWith(start));
      const { page } = RESOURCES[kind];
      return items.slice(0, FOUND_PER_KIND).map((item) => {
        const { id, type, event_type: of, url, method, path } = item;
        const object = OBJECT_KINDS.find((known) => known === kind);
        const title = object === undefined ? (type ?? of ?? url ?? `${method} ${path}`) : titleOf(object, item);
        return {
          group: "Objects",
          label: title,
          icon: iconOf(page.name),
          note: id,
          run: () => go(hrefOf(page.name, id)),
        };
      });
    };
    const [, prefix, start] = ID_START.exec(text) ?? [];
    const kinds = BY_ID.filter((kind) => prefix === undefined || prefixOf(kind) === prefix);
    const search = async () => {
      const searches = start === undefined ? OBJECT_KINDS.map(byText) : kinds.map((kind) => byId(kind, start));
      const results = await Promise.allSettled(searches);
      const commands = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
      const [failed] = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
      if (isCurrent) setFound({ text, commands, error: failed && asCallError(failed.reason) });
    };
    const timer = setTimeout(() => void search(), SEARCH_MILLISECONDS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  if (text.length < 2) return { commands: [] };
  return found.text === text ? found : undefined;
}

/** The beginning of an ID, with its prefix or without. */
const ID_START = /^([a-z]{2,4}_)?(0[0-9A-Za-z]{4,20})$/;
const ID_DIGITS = 22;
const SECOND = 1000;

function prefixOf(kind: (typeof BY_ID)[number]): string {
  return kind === "request_log" ? "req_" : RESOURCES[kind].prefix;
}

/** Returns when an object was created whose ID begins so. The filters exclude the seconds that they name. */
function createdWith(start: string): Record<string, string> {
  const [from, to] = ["0", "z"].map((digit) => timeOfId(start.padEnd(ID_DIGITS, digit))) as [number, number];
  return {
    created_after: formatTimestamp(Math.max(0, from - SECOND)),
    created_before: formatTimestamp(to + 2 * SECOND),
  };
}

/** The code of an error response. */
export const ERROR_CODE = /^[45]\d\d$/;

/** Returns whether values of an object contain a text. IDs are random: part of one is a coincidence, as within an amount. */
function hasText(item: Item, text: string): boolean {
  const values = JSON.stringify(item).replaceAll(/\b[a-z]{2,4}_[0-9A-Za-z]{22}\b/g, "");
  if (ERROR_CODE.test(text)) return new RegExp(String.raw`\b${text}(00)?\b`).test(values);
  // An amount, which the platform compares in several notations, has other digits here.
  return /\d/.test(text) || values.toLowerCase().includes(text.toLowerCase());
}

/** Sections of the documentation, and error codes, whose headings have all words. */
export function useDocumentation(text: string): readonly Command[] {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const isSearched = text.length > 2;
  useEffect(() => {
    if (!isSearched) return;
    void fetch("/docs/guides/search.json").then(
      async (response) => response.ok && setEntries((await response.json()) as Entry[]),
      () => {},
    );
  }, [isSearched]);
  if (!isSearched) return [];
  const words = wordsOf(text);
  const named = entries.filter(({ title, page, aliases = "" }) => hasWords(`${title} ${page} ${aliases}`, words));
  return find(named, words)
    .slice(0, MAX_DOCUMENTED)
    .map(({ title, page, url }) => ({
      group: "Documentation",
      label: title,
      ...(page !== title && { note: page }),
      icon: "docs",
      run: () => location.assign(url.startsWith("/") ? url : `/docs/guides/${url}`),
    }));
}

/** Returns how many deliveries have not arrived: `2 failed, 485 retrying`; empty if all have. */
export function lateInWords(standings: readonly Standing[]): string {
  const failed = standings.reduce((sum, { counts }) => sum + (counts?.failed_deliveries ?? 0), 0);
  const pending = pendingStates(standings).map(({ state, number }) => `${count(number)} ${state}`);
  return [...(failed > 0 ? [`${count(failed)} failed`] : []), ...pending].join(", ");
}

/** A command line of the CLI leads to the page of what it lists or creates; any can be copied. */
export function cliCommands(text: string): Command[] {
  const [, line = ""] =
    /^(?:npx service-cli |service )?((?:trigger|listen|service) .+|why [a-z]{2,4}_\w+|[a-z]+ (?:list|create|get)\b.*)$/.exec(
      text,
    ) ?? [];
  if (line === "") return [];
  const [name = "", verb = "", ...rest] = line.split(/\s+/);
  const kind = kindsWith("page").find((known) => (RESOURCES[known] as Resource).command?.name === name);
  const filters = Object.fromEntries(
    rest.flatMap((word, index) =>
      word.startsWith("--") ? [[word.slice(2).replace("-", "_"), rest[index + 1] ?? ""]] : [],
    ),
  );
  const open: Command[] =
    kind === undefined
      ? []
      : [
          {
            group: "Found",
            label: `Open ${RESOURCES[kind].labels}: ${line}`,
            run: () => go(hrefOf(RESOURCES[kind].page.name, "", verb === "create" ? { create: "1" } : filters)),
          },
        ];
  const command = inProject(`service ${line}${environment.value === "live" ? " --live" : ""}`);
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => showToast(`Copied ${command}`),
      () => showToast("The browser does not allow to copy here.", false),
    );
  return [...open, { group: "Found", label: `Copy ${command}`, icon: "copy", run: () => void copy() }];
}

/** Words that say nothing about the subject of a question. */
const FILLERS = new Set(
  "a all an and any anything are did do does everything for from get gets getting got has have in is it me my no not nothing of on please since that the these this to was were what which".split(
    " ",
  ),
);
export const TIME = /^(\d{1,2}:\d\d|\d+(min|[smhd]))$/;

/** Returns whether a text contains all of some words. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const searched = text.toLowerCase();
  return words.every((word) => searched.includes(word));
}

/** Returns the words that a command must contain; of a question, only the descriptive ones. */
export function wordsOf(wanted: string): readonly string[] {
  const words = wanted
    .toLowerCase()
    .replace(/[?!.]+$/, "")
    .split(/\s+/);
  const naming = words.filter((word) => !FILLERS.has(word) && !TIME.test(word));
  return naming.length === 0 ? words : naming;
}

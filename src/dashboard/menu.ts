import { signal } from "@preact/signals";
import { kindsWith, type Resource, RESOURCES } from "../contract/resources.ts";

/** Which dialog of commands is open. */
export const openCommands = signal<"palette" | "keys">();

export const NOTHING_TYPED = { text: "", isEntered: false };
/** What was typed while the palette was being loaded, and whether Enter followed. */
export const typedAhead = { ...NOTHING_TYPED };

/** The endpoint to which a dialog asks to retry failed deliveries; null for all. */
export const retryTo = signal<{ id: string; name: string; failingSince: string | null } | null>();

/** The seconds by which a dialog asks to advance the clock. */
export const advanceBy = signal<number>();

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

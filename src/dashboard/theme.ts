import { signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = "service-theme";

const stored = remembered(STORED_AS);
export const theme = signal<Theme>(THEMES.find((name) => name === stored) ?? "system");

/** Applies a theme, and stores it in this browser. */
export function showTheme(chosen: Theme): void {
  theme.value = chosen;
  document.documentElement.dataset["theme"] = chosen;
  remember(STORED_AS, chosen);
}

/** Returns the stored theme; undefined if storage is disabled. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage, it lasts until the page is closed.
  }
}

import { remember, remembered } from "./theme.ts";

/** A page of an object that was opened in this browser. */
export interface Visit {
  label: string;
  href: string;
}

const STORED_AS = "service-recent";
const MAX_VISITS = 8;

/** Returns the pages of objects that were opened last, newest first. */
export function visits(): readonly Visit[] {
  try {
    return JSON.parse(remembered(STORED_AS) ?? "[]") as Visit[];
  } catch {
    return [];
  }
}

/** Records that the page of an object was opened. */
export function recordVisit(label: string, href: string): void {
  const others = visits().filter((visit) => visit.href !== href);
  remember(STORED_AS, JSON.stringify([{ label: label.slice(0, 80), href }, ...others].slice(0, MAX_VISITS)));
}

import type { Seeded } from "./seeded.ts";

const ID = /^([a-z]+_)[0-9A-Za-z]{22}$/;
const KEPT = 24;

/** IDs from earlier responses, newest last, so that later requests address existing objects. */
export class Pool {
  private readonly ids = new Map<string, string[]>();
  private readonly objects = new Map<string, Readonly<Record<string, unknown>>>();
  private readonly excluded: ReadonlySet<string>;

  /** Excluded IDs are never used: the key of these requests must not revoke itself. */
  constructor(excluded: readonly string[]) {
    this.excluded = new Set(excluded);
  }

  /** Adds every ID and every object with an ID in a response's body. */
  collect(value: unknown): void {
    if (typeof value === "string") this.take(value);
    if (typeof value !== "object" || value === null) return;
    if ("id" in value) this.objects.set(String(value.id), value);
    for (const part of Object.values(value)) this.collect(part);
  }

  /** Returns the object of an ID as a response showed it last. */
  objectOf(id: unknown): Readonly<Record<string, unknown>> | undefined {
    return this.objects.get(id as string);
  }

  /** Returns an ID that matches the schema's pattern; newer ones are more likely. */
  pick(pattern: string, seeded: Seeded): string | undefined {
    const known = this.ids.get(/^\^([a-z]+_)\[/.exec(pattern)?.[1] ?? "");
    if (known === undefined) return undefined;
    return seeded.chance(0.6) ? known.at(-seeded.integer(1, Math.min(4, known.length))) : seeded.pick(known);
  }

  private take(text: string): void {
    const prefix = ID.exec(text)?.[1];
    if (prefix === undefined || this.excluded.has(text)) return;
    const known = (this.ids.get(prefix) ?? []).filter((id) => id !== text);
    this.ids.set(prefix, [...known, text].slice(-KEPT));
  }
}

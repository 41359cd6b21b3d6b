import type { ApiVersion } from "../../contract/versions.ts";
import { isRecord } from "../../contract/json.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Converts between all supported versions. The platform itself only knows the newest shapes: requests of an older
 * version are upgraded version by version, and responses are downgraded.
 */
export class Versions {
  /** The dates of all versions, oldest first. */
  readonly dates: readonly string[];
  readonly latest: string;
  readonly #versions: readonly ApiVersion[];

  constructor(versions: readonly [ApiVersion, ...ApiVersion[]]) {
    this.#versions = versions;
    this.dates = versions.map(({ date }) => date);
    this.latest = this.dates.at(-1)!;
  }

  /** Returns a request's body as the newest version's. Anything but an object is left for validation to reject. */
  upgrade(date: string, operation: string, body: unknown): unknown {
    if (date === this.latest) return body;
    let upgraded = body;
    for (const { requests } of this.#from(date)) {
      const change = requests?.[operation];
      if (change !== undefined && isRecord(upgraded)) upgraded = change(upgraded);
    }
    return upgraded;
  }

  /**
   * Returns a response's body in a version's shape, or the same value if nothing differs. Events keep the shape they
   * were created in.
   */
  response(date: string, body: object): object {
    if (date === this.latest) return body;
    const { object, data } = body as { object?: unknown; data?: unknown };
    if (object === "event") return body;
    if (object !== "list" || !Array.isArray(data)) return this.#shape(date, object, body as Json);
    const items = data.map((item: object) => this.response(date, item));
    return items.every((item, index) => item === data[index]) ? body : { ...body, data: items };
  }

  /** Returns an event's envelope in a version's shape, with the object that it is about. */
  event(date: string, envelope: Json & { data: { object: Json; previous?: Json } }): Json {
    if (date === this.latest) return envelope;
    const { object, previous } = envelope.data;
    const kind = object["object"];
    const data = { ...envelope.data, object: this.#shape(date, kind, object) };
    if (previous !== undefined) data.previous = this.#shape(date, kind, previous);
    return this.#shape(date, "event", { ...envelope, data });
  }

  #shape(date: string, kind: unknown, object: Json): Json {
    return this.#from(date).reduceRight((shaped, { objects }) => objects?.[String(kind)]?.(shaped) ?? shaped, object);
  }

  /** Returns a version and all newer ones. */
  #from(date: string): readonly ApiVersion[] {
    const index = this.dates.indexOf(date);
    if (index === -1)
      throw new Error(
        `An account is pinned to the version ${date}, which this version of the platform does not support.`,
      );
    return this.#versions.slice(index, -1);
  }
}

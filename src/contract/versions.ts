type Json = Readonly<Record<string, unknown>>;

/** A dated version of the API, and how it differs from the next one. */
export interface ApiVersion {
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** Converts bodies of this version to the next one, by operation name, before they are validated. */
  readonly requests?: Readonly<Record<string, (body: Json) => Json>>;
  /**
   * Converts objects of the next version to this one, by their `object` field, in responses, lists and events. Deleted
   * objects and `data.previous` of an event lack some fields.
   */
  readonly objects?: Readonly<Record<string, (object: Json) => Json>>;
}

/** The supported versions, oldest first. A version that accounts may be pinned to is never removed. */
export const API_VERSIONS: readonly [ApiVersion, ...ApiVersion[]] = [{ date: "2026-11-01" }];

export const LATEST_VERSION = API_VERSIONS[API_VERSIONS.length - 1]!.date;

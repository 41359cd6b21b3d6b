type Json = Readonly<Record<string, unknown>>;

/** A dated version of the API, and how its shapes differ from those of the version after it. */
export interface ApiVersion {
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** Makes the next version's body of one in this version's shape, by the operation's name. It sees bodies unchecked. */
  readonly requests?: Readonly<Record<string, (body: Json) => Json>>;
  /**
   * Makes this version's object of one in the next version's shape, by what stands in its `object`: in replies, in
   * lists and in events. Of a deleted object, and in `data.previous` of an event, some fields are missing.
   */
  readonly objects?: Readonly<Record<string, (object: Json) => Json>>;
}

/** The supported versions, oldest first. A version that accounts may be pinned to is never taken out. */
export const API_VERSIONS: readonly [ApiVersion, ...ApiVersion[]] = [{ date: "2026-11-01" }];

/** Dates that `Service-Version` may name, oldest first. */
export const VERSIONS: readonly string[] = API_VERSIONS.map(({ date }) => date);

export const LATEST_VERSION = API_VERSIONS[API_VERSIONS.length - 1]!.date;

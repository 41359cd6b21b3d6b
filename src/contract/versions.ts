/** Dates that `Service-Version` may name, oldest first (decisions 9). */
export const VERSIONS = ["2026-11-01"] as const;

export type Version = (typeof VERSIONS)[number];

export const LATEST_VERSION: Version = VERSIONS[VERSIONS.length - 1]!;

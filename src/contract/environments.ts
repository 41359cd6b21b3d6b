/** Each resource belongs to one account and one environment. */
export const ENVIRONMENTS = ["sandbox", "live"] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

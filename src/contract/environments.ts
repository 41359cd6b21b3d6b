/** Every resource belongs to one account and one of these. */
export const ENVIRONMENTS = ["sandbox", "live"] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

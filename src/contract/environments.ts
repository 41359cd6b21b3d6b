/** Every resource belongs to one account and one of these (decisions 1). */
export const ENVIRONMENTS = ["sandbox", "live"] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

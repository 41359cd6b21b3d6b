const { env } = process;

/**
 * Returns the number of rounds of a test: all in the endurance tier, which runs every file that calls this, and fewer
 * otherwise.
 */
export const volume = (full: number, inSuite = Math.ceil(full / 10)): number =>
  env["VOLUME"] === "full" ? full : inSuite;

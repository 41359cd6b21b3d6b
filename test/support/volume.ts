const { env } = process;

/**
 * How many rounds a test runs: all of them in the endurance tier, which runs every file that calls this; fewer here.
 */
export const volume = (full: number, inSuite = Math.ceil(full / 10)): number =>
  env["VOLUME"] === "full" ? full : inSuite;

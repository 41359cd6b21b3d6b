import { changedSinceBuild } from "../../scripts/build-state.js";

/** Throws if the tests would run on a build of other sources. */
export function setup(): void {
  const changed = changedSinceBuild();
  if (changed === undefined) return;
  throw new Error(
    `dist is older than ${changed}. Run \`npm run build\`, or \`npm run test:one FILE\`, which builds first.`,
  );
}

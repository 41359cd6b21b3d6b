let last: Promise<unknown> = Promise.resolve();

/**
 * Runs work on large data when it is its turn: one piece at a time in this process, with everything else that the event
 * loop has to do between two. What the caller does before its next await belongs to its turn.
 */
export function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const done = last.then(work);
  last = done.then(pass, pass);
  return done;
}

function pass(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

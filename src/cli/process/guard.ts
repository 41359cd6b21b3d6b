/**
 * Kills processes if this process exits, or gets another signal while `isStopping`. Returns a function that ends the
 * guard.
 */
export function killWithThisProcess(kill: () => void, isStopping: () => boolean): () => void {
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (name: NodeJS.Signals): void => {
    if (!isStopping()) return;
    kill();
    // Without listeners the signal ends this process too.
    process.removeAllListeners(name);
    setImmediate(() => process.kill(process.pid, name));
  };
  for (const name of names) process.on(name, onSignal);
  process.on("exit", kill);
  return () => {
    for (const name of names) process.off(name, onSignal);
    process.off("exit", kill);
  };
}

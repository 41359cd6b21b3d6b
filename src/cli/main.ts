import { writeSync } from "node:fs";

void main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  // Scripts often query the version, which needs nothing else.
  const isVersion = args.length === 1 && (args[0] === "--version" || args[0] === "-v" || args[0] === "-V");
  process.exitCode = isVersion ? await printVersion() : await (await import("./run.ts")).run(args);
}

/** Node's own stream would take as long to load as everything else. */
async function printVersion(): Promise<number> {
  try {
    writeSync(1, `${__VERSION__}\n`);
    return 0;
  } catch (error) {
    const { lostOutput } = await import("./run.ts");
    return await lostOutput(error as NodeJS.ErrnoException);
  }
}

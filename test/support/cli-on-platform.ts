import { afterAll, beforeAll, expect } from "vitest";
import { type ServedPlatform, servePlatform } from "./platform.ts";
import { type CliOptions, type CliResult, runCli } from "./run-cli.ts";

/** The built command and a platform for it. */
export interface CliOnPlatform {
  readonly platform: ServedPlatform;
  /** Runs `service` with the platform's sandbox key. */
  readonly service: (args: readonly string[], options?: CliOptions) => Promise<CliResult>;
  /** Returns the output with `--json`, and expects exit code 0 and empty stderr. */
  readonly json: <Value>(...args: string[]) => Promise<Value>;
}

/** Starts a platform before the tests of a file and stops it afterwards. Call it at the top of the file. */
export function cliOnPlatform(flags: readonly string[] = []): CliOnPlatform {
  let platform: ServedPlatform;
  beforeAll(async () => {
    platform = await servePlatform(flags);
  });
  afterAll(() => platform.stop());

  const service = (args: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
    runCli(args, { ...options, env: { ...platform.env, ...options.env } });

  return {
    get platform() {
      return platform;
    },
    service,
    async json<Value>(...args: string[]): Promise<Value> {
      const { exitCode, stdout, stderr } = await service([...args, "--json"]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      return JSON.parse(stdout) as Value;
    },
  };
}

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { cliOnPlatform, type CliOnPlatform } from "../../support/cli-on-platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";

/** The shared setup of `service listen` tests: a platform, a receiver, and their signing secret. */
export interface Listening extends CliOnPlatform {
  readonly receiver: Receiver;
  readonly secret: string;
  /** Creates events and returns their IDs. */
  readonly trigger: (type: string, count?: number, env?: Record<string, string>) => Promise<string[]>;
  /** Resolves once the receiver has received all of them. */
  readonly got: (ids: readonly string[]) => Promise<void>;
}

/** Starts both before the tests of a file. Call it at the top of the file. */
export function listening(): Listening {
  const cli = cliOnPlatform();
  let receiver: Receiver;
  let secret = "";
  beforeAll(async () => {
    receiver = await startReceiver(() => secret);
    secret = (await cli.service(["listen", "--print-secret"])).stdout.trim();
  });
  afterAll(() => receiver.close());

  return {
    get platform() {
      return cli.platform;
    },
    service: cli.service,
    json: cli.json,
    get receiver() {
      return receiver;
    },
    get secret() {
      return secret;
    },
    async trigger(type, count = 1, env = cli.platform.env) {
      const { stdout, exitCode, stderr } = await cli.service(["trigger", type, "--count", String(count), "-q"], {
        env,
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      return stdout.trimEnd().split("\n");
    },
    got: (ids) => receiver.until(() => ids.every((id) => receiver.ids().has(id))),
  };
}

/** Creates an empty folder for a listener's files. */
export const createFolder = (): string => mkdtempSync(join(tmpdir(), "service-listen-"));

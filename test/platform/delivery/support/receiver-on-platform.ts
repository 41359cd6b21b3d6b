import { afterAll, beforeAll } from "vitest";
import type { Api } from "../../../support/api.ts";
import { type HostedPlatform, hostPlatform } from "./hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./scripted-receiver.ts";

/** A platform in this process, and a receiver that it may deliver to. */
export interface ReceiverOnPlatform {
  readonly platform: HostedPlatform;
  readonly receiver: ScriptedReceiver;
  /** Calls the API in the sandbox. */
  readonly api: Api;
}

/** Starts both before the tests of a file and stops them afterwards. Call it at the top of the file. */
export function receiverOnPlatform(): ReceiverOnPlatform {
  let platform: HostedPlatform;
  let receiver: ScriptedReceiver;
  beforeAll(async () => {
    platform = await hostPlatform();
    receiver = await startScriptedReceiver();
  });
  afterAll(async () => {
    await platform.close();
    await receiver.close();
  });
  return {
    get platform() {
      return platform;
    },
    get receiver() {
      return receiver;
    },
    api: (...call) => platform.api(...call),
  };
}

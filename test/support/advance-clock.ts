import { expect } from "vitest";
import type { Api } from "./api.ts";

/** Advances the sandbox's clock. Resolves with the response, however long the advance takes. */
export async function advanceClock(api: Api, seconds: number): ReturnType<Api> {
  const advanced = await api("POST", "/v1/test_clock/advance", { seconds });
  if (advanced.status !== 202) return advanced;
  let shown = advanced;
  await expect
    .poll(async () => (shown = await api("GET", "/v1/test_clock")).body.status, { timeout: 120_000 })
    .not.toBe("advancing");
  return shown;
}

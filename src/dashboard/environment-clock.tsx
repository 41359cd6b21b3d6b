import { useEffect } from "preact/hooks";
import type { TestClock } from "../contract/schemas/test-clock.ts";
import { useQuery } from "./api/use-query.ts";
import { clockOffset } from "./clock.ts";
import { environment } from "./router.tsx";

/** Follows the sandbox's clock, which may be moved from elsewhere; until it is known, times go by the machine's own. */
export function EnvironmentClock() {
  const path = environment.value === "sandbox" ? "/v1/test_clock" : undefined;
  const { data } = useQuery<TestClock>(path, { every: 2000 });
  const seconds = data?.offset_seconds ?? 0;
  useEffect(() => {
    clockOffset.value = seconds * 1000;
  }, [seconds]);
  return null;
}

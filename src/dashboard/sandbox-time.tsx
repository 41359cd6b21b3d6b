import { useRef } from "preact/hooks";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import { useQuery } from "./api/store.ts";
import { clockOffset, environmentNow } from "./clock.ts";
import { Icon } from "./components/icon.tsx";
import { MoreMenu } from "./components/menu.tsx";
import { isUnreachable } from "./components/outage.tsx";
import { Unknown } from "./components/values.tsx";
import { clockTime, counted, dayOf, duration } from "./format.ts";
import { advanceBy } from "./menu.ts";
import { go, hrefOf, Link } from "./router.tsx";

const STEPS = [
  ["Advance 1 hour", 3600],
  ["Advance 1 day", 86_400],
] as const;

/** Returns the time of day, after its day unless that is today. */
function dayAndTime(at: string) {
  return `${dayOf(at, Date.now())} ${clockTime(at)}`.trim();
}

/** The sandbox's time, how far it is ahead of real time, and a menu to advance it. */
export function SandboxTime() {
  const { data: clock } = useQuery<TestClock>("/v1/test_clock");
  const now = environmentNow();
  // Without the platform, its time is unknown.
  const shown = useRef(now);
  if (!isUnreachable.value) shown.current = now;
  const isAdvancing = clock?.status === "advancing" && clock.target !== null;
  const href = hrefOf("clock");
  return (
    <div class="sandbox-time" role="group" aria-label="Sandbox time">
      <Link class={clockOffset.value > 0 ? "offset ahead" : "offset"} href={href} title="The sandbox’s time">
        <Icon name="clock" />
        <span class="sr-only">Sandbox time</span>
        <strong>{clock === undefined ? <Unknown /> : dayAndTime(new Date(shown.current).toISOString())}</strong>
        {isAdvancing ? (
          <span>
            advancing to {dayAndTime(clock.target!)}, {counted(clock.remaining, "delivery", "deliveries")} left
          </span>
        ) : (
          clockOffset.value > 0 && <span>{duration(clockOffset.value / 1000)} ahead</span>
        )}
      </Link>
      <MoreMenu
        label="Advance clock"
        isDisabled={clock === undefined || isAdvancing || isUnreachable.value}
        items={[
          ...STEPS.map(([label, seconds]) => ({ label, onSelect: () => (advanceBy.value = seconds) })),
          { label: "Advance by another time", onSelect: () => go(href) },
        ]}
      />
    </div>
  );
}

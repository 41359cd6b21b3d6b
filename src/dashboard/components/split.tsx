import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { filter, go, hrefOf, isWide, peekedId, Peeking, route } from "../router.tsx";
import { remember, remembered } from "../theme.ts";
import { Peeked } from "./page.tsx";

const STORED_AS = "service-peek-width";
const [MIN_WIDTH, MAX_WIDTH, STEP] = [360, 800, 40];

/** A list, with the selected row next to it. On a narrow screen, a row opens its page. */
export function Split({
  detail: Detail,
  children,
}: {
  detail: ComponentType<{ id: string }>;
  children: ComponentChildren;
}) {
  const { page, query } = route.value;
  const id = peekedId.value;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const asked = query.get("peek");
    if (!isWide.value && asked !== null) go(hrefOf(page, asked), { replace: true });
  }, [isWide.value]);
  useEffect(() => setWidth(Number(remembered(STORED_AS) ?? 480)), []);
  const setWidth = (width: number) => {
    const fitting = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width));
    box.current?.style.setProperty("--peek-width", `${fitting}px`);
    remember(STORED_AS, String(fitting));
  };
  const widthOf = (edge: HTMLElement) =>
    edge.parentElement!.getBoundingClientRect().right - edge.getBoundingClientRect().left;
  return (
    <div ref={box} class={id === "" ? undefined : "split"}>
      <div class="list">
        <Peeking.Provider value>{children}</Peeking.Provider>
      </div>
      {id !== "" && (
        <>
          <aside class="peek" aria-label="Chosen row">
            <Peeked.Provider value={{ href: hrefOf(page, id), close: () => filter({ peek: "" }) }}>
              <Detail key={id} id={id} />
            </Peeked.Provider>
          </aside>
          <div
            class="peek-edge"
            role="separator"
            tabIndex={0}
            aria-orientation="vertical"
            aria-label="Width of the chosen row"
            aria-valuemin={MIN_WIDTH}
            aria-valuemax={MAX_WIDTH}
            aria-valuenow={Number(remembered(STORED_AS) ?? 480)}
            onKeyDown={({ key, currentTarget }) => {
              if (key === "ArrowLeft") setWidth(widthOf(currentTarget) + STEP);
              if (key === "ArrowRight") setWidth(widthOf(currentTarget) - STEP);
            }}
            onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
            onPointerMove={({ currentTarget, clientX, buttons }) => {
              if (buttons === 1) setWidth(currentTarget.parentElement!.getBoundingClientRect().right - clientX);
            }}
          />
        </>
      )}
    </div>
  );
}

import type { ComponentChildren, ComponentType } from "preact";
import { Page } from "../components/page.tsx";
import { Split } from "../components/split.tsx";
import { count } from "../format.ts";
import { route } from "../router.tsx";
import { CopyCommand, CreatedRange, Filters, Search, type SearchProps } from "./filters.tsx";

/** Returns a page that is a list, or the page of one of its rows if the URL has its ID. */
export function listAndPage(List: ComponentType, Detail: ComponentType<{ id: string }>): ComponentType {
  return () => {
    const { id } = route.value;
    return id === "" ? <List /> : <Detail id={id} />;
  };
}

/** Returns how many of a list are loaded: `50 of 202`, `newest 50` if the total is unknown, or `7` if these are all. */
export function loadedOf(
  { items = [], hasMore }: { items: readonly unknown[] | undefined; hasMore: boolean },
  total?: number,
) {
  if (items.length === 0) return undefined;
  if (!hasMore) return count(items.length);
  return total === undefined ? `newest ${count(items.length)}` : `${count(items.length)} of ${count(total)}`;
}

/** A list below its search and filters, and one of its rows next to it. */
export function ListPage(props: {
  title: string;
  subtitle?: string | undefined;
  count?: ComponentChildren;
  /** The page of a row. */
  detail: ComponentType<{ id: string }>;
  /** The resource in the command that lists the same, if there is one. */
  command: string | undefined;
  filters: Readonly<Record<string, string>>;
  search: SearchProps;
  /** Filters between the search and that of the creation time. */
  choices: ComponentChildren;
  isReal?: boolean;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, subtitle, command, filters } = props;
  return (
    <Split detail={props.detail}>
      <Page
        title={title}
        {...(subtitle !== undefined && { subtitle })}
        count={props.count}
        actions={
          <>
            {command !== undefined && <CopyCommand of={command} filters={filters} />}
            {props.actions}
          </>
        }
      >
        <Filters>
          <Search {...props.search} />
          {props.choices}
          <CreatedRange isReal={props.isReal === true} />
        </Filters>
        {props.children}
      </Page>
    </Split>
  );
}

import { type Command, Option } from "commander";
import type { QueryValue } from "../../../client/base-url.ts";
import { listItems } from "../../../client/pages.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { pointInTime } from "../../arguments/times.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import type { Resource } from "./resource.ts";

const DEFAULT_LIMIT = 20;

export interface ListDescription<Item> {
  filters: readonly Option[];
  examples: readonly string[];
  /** Looks at what was listed, once all of it is printed. */
  review?: (items: readonly Item[]) => void;
}

/** `list`, newest first, with the filters that the resource has: each option's name is the query's, with dashes. */
export function registerList<Item extends object>(
  group: Command,
  context: Context,
  resource: Resource<Item>,
  { filters, examples, review }: ListDescription<Item>,
): void {
  const list = group.command("list").description(`List ${resource.view.plural}, newest first`);
  for (const filter of filters) list.addOption(filter);
  list
    .addOption(
      new Option("--limit <count>", "Maximum number of items").argParser(wholeNumber(1)).default(DEFAULT_LIMIT),
    )
    .addOption(new Option("--all", "List all items").conflicts("limit"))
    .action(async (flags: { limit: number; all?: true } & Record<string, QueryValue>) => {
      const query = Object.fromEntries(
        filters.map((filter) => [filter.name().replaceAll("-", "_"), flags[filter.attributeName()]]),
      );
      const client = await context.client();
      let isCut = false;
      const items = listItems<Item>(client, resource.path, {
        query,
        max: flags.all ? Infinity : flags.limit,
        onCut: () => (isCut = true),
      });
      const listed: Item[] = [];
      await context.output.list(keeping(items, listed), resource.view);
      // Whoever names a limit knows of it.
      if (isCut && list.getOptionValueSource("limit") === "default") {
        context.output.notice(`Showing the newest ${flags.limit}. For more, pass --limit <count> or --all.`);
      }
      review?.(listed);
    });
  addExamples(addFields(list, resource.view), examples);
}

async function* keeping<Item>(items: AsyncIterable<Item>, kept: Item[]): AsyncGenerator<Item, void, undefined> {
  for await (const item of items) {
    kept.push(item);
    yield item;
  }
}

/** `--created-after` and `--created-before`. */
export function createdFilters(context: Context): Option[] {
  const parse = pointInTime(() => context.now());
  return [
    new Option("--created-after <time>", "Earliest creation time: a timestamp, a date, or an age such as 2h").argParser(
      parse,
    ),
    new Option("--created-before <time>", "Latest creation time, in the same forms").argParser(parse),
  ];
}

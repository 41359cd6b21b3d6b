import { type KindWith, nounOf, nounsOf, pathOf, RESOURCES } from "../../contract/resources.ts";
import type { ResourceView } from "../terminal/view.ts";

/** The path of a resource in the API, and how the command shows it. */
export interface Resource<Item extends object> {
  /** The path of its list, such as `/v1/orders`. */
  path: string;
  /** The command's name: `orders`. */
  command: string;
  /** An id for examples: `ord_4Vf8…`. */
  exampleId: string;
  view: ResourceView<Item>;
  /** True if its times are real, whatever the test clock says. */
  isInRealTime?: true;
}

type CommandKind = KindWith<"command"> & KindWith<"prefix">;

/** Returns a resource from the table of resources. */
export function resourceFor<Item extends object>(
  kind: CommandKind,
  view: Omit<ResourceView<Item>, "noun" | "plural">,
): Resource<Item> {
  return {
    path: pathOf(kind),
    command: RESOURCES[kind].command.name,
    exampleId: exampleIdOf(kind),
    view: { noun: nounOf(kind), plural: nounsOf(kind), ...view },
  };
}

/** Returns an ID for examples, which no object has. */
export function exampleIdOf(kind: KindWith<"prefix">): string {
  return `${RESOURCES[kind].prefix}4Vf8aTqz0bKm2sNw9XyRcd`;
}

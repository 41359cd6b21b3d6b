import type { ResourceView } from "../../terminal/view.ts";

/** Where a resource lives in the API, and how it is shown. */
export interface Resource<Item extends object> {
  /** `/v1/orders` */
  path: string;
  /** The command's name: `orders`. */
  command: string;
  /** An id for examples: `ord_4Vf8…`. */
  exampleId: string;
  view: ResourceView<Item>;
}

/** `an order`, `a customer`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

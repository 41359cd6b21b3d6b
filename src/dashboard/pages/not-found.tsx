import { nearest } from "../../contract/nearest.ts";
import { Page } from "../components/page.tsx";
import { openCommands, SECTIONS } from "../menu.ts";
import { hrefOf, Link, route } from "../router.tsx";

/** A page that does not exist, and those that were probably meant. */
export function NotFound() {
  const { page, id } = route.value;
  const labels = new Map<string, string>(SECTIONS.flatMap(({ links }) => links));
  const near = nearest(page, [...labels.keys()].filter(Boolean));
  return (
    <Page
      title="Page not found"
      headline={
        <section class="answer" aria-label="Result">
          <p>This page does not exist.</p>
          <p class="evidence">
            {near.length > 0 ? "You may have meant:" : "Check the address, or choose a page from the menu."}
          </p>
          <div class="row-actions remedy">
            {near.map((name) => (
              <Link key={name} class="button" href={hrefOf(name, id)}>
                {labels.get(name)}
              </Link>
            ))}
            <Link class="button" href={hrefOf("")}>
              Overview
            </Link>
            <button type="button" onClick={() => (openCommands.value = "palette")}>
              Find anything <kbd>Ctrl K</kbd>
            </button>
          </div>
        </section>
      }
    >
      {null}
    </Page>
  );
}

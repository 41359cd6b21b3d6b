import { addCopyPage, copy } from "../guides/copy.ts";
import "../guides/search.ts";
import { addThemeButton } from "../guides/theme-button.ts";
import { remember, remembered } from "../theme.ts";
import { openTry } from "./try.ts";

/** What the API reference does in a browser besides the search: the language of the samples, copy and "Try it". */

const LANGUAGE = "service-reference-language";

// The list of all operations has their anchors: a link to one of them leads to its page.
const old = document.getElementById(location.hash.slice(1))?.querySelector<HTMLAnchorElement>(".contents a");
if (old != null) location.replace(old.href);
addThemeButton();
addCopyPage();
for (const control of document.querySelectorAll<HTMLElement>("button[hidden]")) control.hidden = false;
chooseLanguage(remembered(LANGUAGE) ?? "curl");
markSection();

document.addEventListener("click", ({ target }) => {
  const button = (target as Element).closest("button");
  if (button === null) return;
  const { choose } = button.dataset;
  if (choose !== undefined) keepPosition(button, () => chooseLanguage(choose));
  if ("copy" in button.dataset) void copy(button, shownSample(button));
  if ("try" in button.dataset) void openTry(button);
});

function chooseLanguage(name: string): void {
  document.body.dataset["language"] = name;
  remember(LANGUAGE, name);
  for (const button of document.querySelectorAll<HTMLElement>("[data-choose]")) {
    button.setAttribute("aria-pressed", String(button.dataset["choose"] === name));
  }
}

/** Samples in other languages have other heights, so the content that the reader looks at is kept in place. */
function keepPosition(element: Element, change: () => void): void {
  const before = element.getBoundingClientRect().top;
  change();
  scrollBy({ top: element.getBoundingClientRect().top - before, behavior: "instant" });
}

function shownSample(button: HTMLElement): string {
  const samples = [...button.closest(".panel")!.querySelectorAll("pre")];
  return samples.find((sample) => sample.offsetParent !== null)?.textContent ?? "";
}

/** Highlights the link of the visible section. */
function markSection(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>("#menu a")]
      .filter(({ pathname, hash }) => pathname === location.pathname && hash !== "")
      .map((link) => [link.hash.slice(1), link]),
  );
  const inSight = new Set<string>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) inSight.add(target.id);
        else inSight.delete(target.id);
      }
      const first = [...links.keys()].find((id) => inSight.has(id));
      for (const [id, link] of links) {
        if (id === first) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      }
      const current = first === undefined ? undefined : links.get(first);
      const menu = document.querySelector("#menu")!;
      const isHidden =
        current !== undefined && menu.scrollHeight > menu.clientHeight && !document.activeElement?.closest("#menu");
      if (isHidden) menu.scrollTop = current.offsetTop - menu.clientHeight / 2;
    },
    { rootMargin: "-80px 0px -70% 0px" },
  );
  for (const part of document.querySelectorAll("article")) observer.observe(part);
}

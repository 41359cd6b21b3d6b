import { showTheme, type Theme, theme, THEMES } from "../theme.ts";

/** Applies the theme that the dashboard has, and adds a button to the header that changes it for both. */
export function addThemeButton(): void {
  const button = document.createElement("button");
  button.type = "button";
  const show = (chosen: Theme) => {
    showTheme(chosen);
    button.textContent = `Theme: ${chosen}`;
  };
  button.addEventListener("click", () => show(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!));
  document.querySelector("header > nav")!.append(button);
  show(theme.value);
}

import { showTheme, type Theme, theme, THEMES } from "../theme.ts";

/** Applies the theme that the dashboard has, and adds buttons that change it for both: in the header, and in a phone's menu. */
export function addThemeButton(): void {
  const show = (chosen: Theme) => {
    showTheme(chosen);
    for (const button of buttons) button.textContent = `Theme: ${chosen}`;
  };
  const buttons = ["header > nav", "#menu"].map((place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => show(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!));
    document.querySelector(place)!.append(button);
    return button;
  });
  show(theme.value);
}

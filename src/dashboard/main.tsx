import { render } from "preact";
import { App } from "./app.tsx";
import { showTheme, theme } from "./theme.ts";

showTheme(theme.value);
render(<App />, document.querySelector("#dashboard")!);

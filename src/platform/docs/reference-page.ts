import { createHash } from "node:crypto";
import { DOCUMENT_PATH } from "../http/openapi/serve.ts";

/** Styles of the page around the package's own. */
const STYLE = `
html { background: #ffffff; }
html.dark-mode { background: #1c2022; }
body { margin: 0; }
.swagger-ui .info { margin: 32px 0; }
.swagger-ui .scheme-container { padding: 16px 0; }
noscript { display: block; max-width: 640px; margin: 48px auto; padding: 0 16px; font: 16px/1.5 system-ui, sans-serif; }
`;

/** Follows the system's color scheme and shows the document. Requests are sent to the page's own origin. */
const SCRIPT = `
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
paint();
dark.addEventListener("change", paint);
const loaded = fetch("${DOCUMENT_PATH}").then((reply) => reply.json());
addEventListener("DOMContentLoaded", async () => {
  const spec = await loaded;
  spec.servers = [{ url: location.origin }];
  SwaggerUIBundle({
    spec,
    dom_id: "#reference",
    layout: "BaseLayout",
    presets: [SwaggerUIBundle.presets.apis],
    deepLinking: true,
    filter: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
  });
});
`;

/** Allows no script, style or font from other origins, and only the two inline ones above. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  `script-src 'self' ${hashOf(SCRIPT)}`,
  `style-src 'self' ${hashOf(STYLE)}`,
  "img-src data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page at /docs. */
export function referencePage(urls: { script: string; style: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>API reference · Service</title>
<link rel="icon" href="data:,">
<link rel="preload" href="${DOCUMENT_PATH}" as="fetch" crossorigin>
<link rel="stylesheet" href="${urls.style}">
<style>${STYLE}</style>
<script>${SCRIPT}</script>
<script src="${urls.script}" defer></script>
</head>
<body>
<main id="reference"></main>
<noscript>The API reference needs JavaScript. What it shows is the OpenAPI document at <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a>.</noscript>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

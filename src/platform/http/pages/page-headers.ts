/** Headers of every page: it loads only what `policy` allows, and cannot be framed. */
export function pageHeaders(...policy: readonly string[]) {
  return {
    "Content-Security-Policy": ["default-src 'none'", ...policy, "base-uri 'none'", "frame-ancestors 'none'"].join(
      "; ",
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
}

/** Headers of a page with scripts: those of this origin only, none inline, and no conversion of text into markup. */
export function scriptedPageHeaders(formAction: "'self'" | "'none'") {
  const own = ["script", "style", "img", "font", "connect"].map((kind) => `${kind}-src 'self'`);
  return pageHeaders(...own, `form-action ${formAction}`, "require-trusted-types-for 'script'", "trusted-types 'none'");
}

/** Allows no inline script or style, no other origins, no framing, and no conversion of text into markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Headers of every page of the documentation. */
export const DOCUMENT_HEADERS = {
  "Cache-Control": "no-cache",
  "Content-Security-Policy": POLICY,
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
};

/** Path of the documentation, and of the API reference's first page. */
export const DOCS_PATH = "/docs";
/** Path of the pages of the API reference, each of which has the operations of one group. */
export const REFERENCE_PATH = `${DOCS_PATH}/reference`;

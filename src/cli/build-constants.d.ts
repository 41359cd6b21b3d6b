// Values from package.json, set by the build.

declare const __VERSION__: string;
/** Where users report issues; empty if package.json names no address. */
declare const __ISSUES_URL__: string;

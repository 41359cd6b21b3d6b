/** Where people report what is wrong. */
export const ISSUES = "https://github.com/service-cli/service-cli/issues";

/** How long a test waits for a condition, in milliseconds: less than it may take, so that a failure says for which. */
export const PATIENCE = (Number(process.env["TEST_SECONDS"] ?? 300) * 1000 * 2) / 3;
